package ptx_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine/ptx"
)

// corpus is the PTX files of testdata/ok.
func corpus(t testing.TB) map[string][]byte {
	files := map[string][]byte{}
	names, _ := filepath.Glob("testdata/ok/*.ptx")
	for _, n := range names {
		b, err := os.ReadFile(n)
		if err != nil {
			t.Fatal(err)
		}
		files[n] = b
	}
	if len(files) == 0 {
		t.Fatal("testdata/ok is empty")
	}
	return files
}

// silicon calls f for every PTX file that ran on hardware, in archive order;
// the test is skipped where they are not.
func silicon(t testing.TB, f func(name string, src []byte)) {
	for _, archive := range []string{"ptx.zip", "ptx-clang.zip"} {
		z, err := zip.OpenReader(filepath.Join("../../../shared/silicon/h200", archive))
		if err != nil {
			t.Skipf("no measured PTX beside the repository: %v", err)
		}
		defer z.Close()
		for _, e := range z.File {
			r, err := e.Open()
			if err != nil {
				t.Fatal(err)
			}
			src, err := io.ReadAll(r)
			if err != nil {
				t.Fatal(err)
			}
			f(e.Name, src)
		}
	}
}

// roundTrip parses, prints and parses again.
func roundTrip(t testing.TB, name string, src []byte) *ptx.Module {
	m, err := ptx.Parse(name, src)
	if err != nil {
		t.Fatalf("%v", err)
	}
	printed := ptx.Print(m)
	again, err := ptx.Parse(name+" printed", printed)
	if err != nil {
		t.Fatalf("%v\nin\n%s", err, printed)
	}
	if !ptx.Equal(m, again) {
		t.Fatalf("%s: printing changed the tree:\n%s", name, printed)
	}
	if second := ptx.Print(again); !bytes.Equal(printed, second) {
		t.Fatalf("%s: printing twice differs", name)
	}
	return m
}

func TestRoundTrip(t *testing.T) {
	for name, src := range corpus(t) {
		roundTrip(t, name, src)
	}
}

func TestRoundTripSilicon(t *testing.T) {
	n := 0
	silicon(t, func(name string, src []byte) {
		n++
		m := roundTrip(t, name, src)
		if m.Version() == "" || !strings.HasPrefix(m.Target(), "sm_90") {
			t.Errorf("%s: version %q, target %q", name, m.Version(), m.Target())
		}
	})
	if n != 1094+389 {
		t.Errorf("%d files, want 1094 and 389", n)
	}
}

// What stands between tokens does not matter, but for the directives that end
// with their line.
func TestLayoutDoesNotMatter(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	blanks := []string{" ", "\t", "\n", " // c\n", "/* ; } */", "\r\n", "\n\n\n"}
	atLineEnd := regexp.MustCompile(`^\s*\.(version|target|address_size|file|loc)\b`)
	for name, src := range corpus(t) {
		m := roundTrip(t, name, src)
		var out strings.Builder
		for line := range strings.Lines(string(ptx.Print(m))) {
			if atLineEnd.MatchString(line) || strings.Contains(line, `"`) {
				out.WriteString(line)
				continue
			}
			for _, c := range line {
				if c == '\t' || c == '\n' || c == ' ' {
					if strings.HasSuffix(out.String(), "/") {
						out.WriteByte(' ') // a division and a comment make a longer comment
					}
					out.WriteString(blanks[rng.IntN(len(blanks))])
				} else {
					out.WriteRune(c)
				}
			}
			out.WriteByte('\n')
		}
		again, err := ptx.Parse(name, []byte(out.String()))
		if err != nil {
			t.Fatalf("%v\n%s", err, out.String())
		}
		if !ptx.Equal(clearBodies(m), clearBodies(again)) {
			t.Fatalf("%s: white space changed the tree:\n%s", name, out.String())
		}
	}
}

// clearBodies drops the verbatim text of sections.
func clearBodies(m *ptx.Module) *ptx.Module {
	for _, it := range m.Items {
		if d, ok := it.(*ptx.Directive); ok {
			d.Body = ""
		}
	}
	return m
}

// A file cut anywhere inside its last kernel is an error, and never a panic.
func TestTruncation(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	cut := func(name string, src []byte, n int) {
		end := bytes.LastIndexByte(src, '}')
		m, err := ptx.Parse(name, src[:n])
		start := bytes.LastIndex(src, []byte("\n{"))
		if n > start+2 && n <= end && err == nil {
			t.Errorf("%s cut at %d of %d: no error", name, n, len(src))
		}
		if err == nil {
			return
		}
		ptx.Print(m) // what could be read can be printed
		for _, e := range err.(ptx.ErrorList) {
			if e.Pos.Line < 1 || e.Pos.Col < 1 || e.Msg == "" {
				t.Errorf("%s cut at %d: diagnostic %q without a place", name, n, e)
			}
		}
	}
	for name, src := range corpus(t) {
		for n := range src {
			cut(name, src, n)
		}
	}
	i := 0
	silicon(t, func(name string, src []byte) {
		if i++; i%40 == 0 {
			for range 4 {
				cut(name, src, rng.IntN(len(src)))
			}
		}
	})
}

// TestDiagnostics checks the files of testdata/errors: // ERROR "regexp" says
// what is reported on its line, // ERROR+1 on the next, and nothing else is.
func TestDiagnostics(t *testing.T) {
	names, _ := filepath.Glob("testdata/errors/*.ptx")
	if len(names) == 0 {
		t.Fatal("testdata/errors is empty")
	}
	annotation := regexp.MustCompile(`// ERROR(\+1)? "(.*)"\s*$`)
	for _, name := range names {
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		want := map[int]string{}
		for i, line := range strings.Split(string(src), "\n") {
			if m := annotation.FindStringSubmatch(line); m != nil {
				want[i+1+len(m[1])/2] = m[2]
			}
		}
		_, perr := ptx.Parse(name, src)
		list, _ := perr.(ptx.ErrorList)
		for _, e := range list {
			re, ok := want[e.Pos.Line]
			if !ok {
				t.Errorf("unexpected: %v", e)
				continue
			}
			if !regexp.MustCompile(strings.ReplaceAll(re, `\"`, `"`)).MatchString(e.Msg) {
				t.Errorf("%v: want %s", e, re)
			}
			delete(want, e.Pos.Line)
		}
		for line, re := range want {
			t.Errorf("%s:%d: no diagnostic matches %s", name, line, re)
		}
	}
}

func TestEmptyAndBinary(t *testing.T) {
	for _, src := range []string{"", "\n", "\x7fELF\x00\x01\xff", ".version", "{}{}{}", strings.Repeat("(", 1000),
		".version 8.0\n.global .b32 x = " + strings.Repeat("(", 100000), ".version 8.0\n.func f() " + strings.Repeat("{", 100000),
		".version 8.0\n.func f() { mov x, " + strings.Repeat("-~", 100000) + "1;}", "/* " + ".version 8.0"} {
		m, err := ptx.Parse("x", []byte(src))
		if src != ".version" && err == nil {
			t.Errorf("%.40q: no error", src)
		}
		ptx.Print(m)
	}
}

func TestMaxErrors(t *testing.T) {
	src := ".version 8.0\n.func f()\n{\n" + strings.Repeat("\tmov.u32 ,;\n", 1000) + "}\n"
	_, err := ptx.Parse("x", []byte(src))
	if list, _ := err.(ptx.ErrorList); len(list) != ptx.MaxErrors {
		t.Errorf("%d errors, want %d", len(list), ptx.MaxErrors)
	}
	if want := "x:4:10: expected an operand"; !strings.HasPrefix(fmt.Sprint(err), want) {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestMaxText(t *testing.T) {
	src := ".version 8.0\n" + strings.Repeat("\n", ptx.MaxText)
	if _, err := ptx.Parse("x", []byte(src)); fmt.Sprint(err) != "x:1:1: 16777229 bytes of PTX are more than 16 MiB" {
		t.Error(err)
	}
	if _, err := ptx.Parse("x", []byte(src[:ptx.MaxText])); err != nil {
		t.Errorf("of the greatest size: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	for _, src := range corpus(f) {
		f.Add(src)
	}
	names, _ := filepath.Glob("testdata/errors/*.ptx")
	for _, n := range names {
		if b, err := os.ReadFile(n); err == nil {
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		m, err := ptx.Parse("fuzz", src)
		printed := ptx.Print(m)
		if err != nil {
			return
		}
		again, err := ptx.Parse("printed", printed)
		if err != nil {
			t.Fatalf("%v\n%s", err, printed)
		}
		if !ptx.Equal(m, again) {
			t.Fatalf("printing changed the tree:\n%s", printed)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	var largest []byte
	silicon(b, func(_ string, src []byte) {
		if len(src) > len(largest) {
			largest = src
		}
	})
	b.SetBytes(int64(len(largest)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ptx.Parse("sgemm.ptx", largest); err != nil {
			b.Fatal(err)
		}
	}
}
