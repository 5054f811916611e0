package compile

import (
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/warptune/warptune/tuner/kernel"
	"pgregory.net/rapid"
)

// request is a CUDA request over the files, the first of which is the source.
func request(t testing.TB, main string, files fstest.MapFS, macros ...kernel.Macro) Request {
	t.Helper()
	f, ok := files[main]
	if !ok {
		t.Fatalf("no file %s", main)
	}
	return Request{Compile: kernel.Compile{Language: kernel.CUDA, SourceFile: main, Source: f.Data, Macros: macros, Files: files}, Target: "sm_80"}
}

func text(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }

func TestScanFindsWhatTheTextDependsOn(t *testing.T) {
	for _, tt := range []struct {
		name, src string
		want, not []string
		includes  []string
		pastes    bool
	}{
		{"plain", "int a = TILE + 1;", []string{"TILE", "a"}, []string{"PAD"}, nil, false},
		{"line comment", "x // PAD\n+ TILE", []string{"TILE"}, []string{"PAD"}, nil, false},
		{"block comment", "/* PAD\n */ TILE", []string{"TILE"}, []string{"PAD"}, nil, false},
		{"comment in string", `f("/*"); TILE; g("*/")`, []string{"TILE"}, nil, nil, false},
		{"quote in comment", "// don't\nTILE", []string{"TILE"}, nil, nil, false},
		{"stray quote", "#error don't\nTILE", []string{"TILE"}, nil, nil, false},
		{"pragma operator", `_Pragma("unroll UNROLL")`, []string{"UNROLL"}, nil, nil, false},
		{"raw string", `R"x(/* " )" )x" TILE`, []string{"TILE"}, nil, nil, false},
		{"continued name", "TI\\\nLE", []string{"TILE"}, []string{"TI", "LE"}, nil, false},
		{"digit separator", "int a = 1'000; TILE 'c'", []string{"TILE"}, nil, nil, false},
		{"number suffix", "0xBLOCK 1e5f", nil, []string{"BLOCK", "f"}, nil, false},
		{"includes", "#include \"a.h\"\n # /* x */ include <b/c.h>\n#include MACRO\n", []string{"MACRO"}, nil, []string{"a.h", "b/c.h", ""}, false},
		{"hidden include", "#inc\\\nlude \"a.h\"", nil, nil, []string{"a.h"}, false},
		{"no include", "x #include \"a.h\"\nif (\"#include\")", nil, nil, nil, false},
		{"paste", "#define C(a, b) a ## b", nil, nil, nil, true},
		{"digraph", "%:include \"a.h\"", nil, nil, nil, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := scan([]byte(tt.src))
			for _, w := range tt.want {
				if !got.identifiers[w] {
					t.Errorf("missed %s in %v", w, slices.Sorted(maps.Keys(got.identifiers)))
				}
			}
			for _, n := range tt.not {
				if got.identifiers[n] {
					t.Errorf("found %s", n)
				}
			}
			var inc []string
			for _, i := range got.includes {
				inc = append(inc, i.name)
			}
			if !slices.Equal(inc, tt.includes) || got.pastes != tt.pastes {
				t.Errorf("includes %q, pastes %v", inc, got.pastes)
			}
		})
	}
}

// Any text is scanned to its end, and what is appended on a line of its own is
// seen, unless the text leaves a comment or a raw string open.
func TestScanAnyText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := rapid.SliceOf(rapid.SampledFrom([]string{
			"a", "\"", "'", "\\", "\n", "#", "include", "<", ">", "//", "/*", "*/", " ", "R\"", "(", ")", "1", "é", "%:", "\r",
		})).Draw(t, "src")
		s := strings.Join(src, "")
		scan([]byte(s))
		if strings.Contains(s, "/*") || strings.Contains(s, "R\"") {
			return
		}
		if got := scan([]byte(s + "\n\nTILE")); !got.identifiers["TILE"] {
			t.Fatalf("lost TILE after %q", s)
		}
	})
}

func TestMacrosThatMatter(t *testing.T) {
	macros := []kernel.Macro{{Name: "TILE", Value: "2*HALF"}, {Name: "HALF", Value: "8"}, {Name: "max_registers", Value: "32"}, {Name: "OTHER", Value: "TILE"}}
	src, err := ReadSource(request(t, "k.cu", fstest.MapFS{"k.cu": text("int x = TILE;")}, macros...))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := src.MacroKey(), `{"HALF":"8","TILE":"2*HALF"}`; got != want {
		t.Errorf("macros %s, want %s", got, want)
	}
	src, err = ReadSource(request(t, "k.cu", fstest.MapFS{"k.cu": text("a ## b")}, macros...))
	if err != nil || len(src.Macros) != 4 {
		t.Errorf("pasting text: %v, %v; want all macros", src, err)
	}
	r := request(t, "k.cu", fstest.MapFS{"k.cu": text("int x = N;")}, macros...)
	r.Options = []string{"-DN=HALF"}
	if src, err = ReadSource(r); err != nil || src.MacroKey() != `{"HALF":"8"}` {
		t.Errorf("option: %v, %v", src, err)
	}
}

func TestSourceDigest(t *testing.T) {
	files := fstest.MapFS{"k.cu": text(`#include "h.h"`), "h.h": text("int x;"), "other.h": text("int y;")}
	digest := func(files fstest.MapFS, main string) string {
		t.Helper()
		s, err := ReadSource(request(t, main, files))
		if err != nil {
			t.Fatal(err)
		}
		return s.Digest
	}
	first := digest(files, "k.cu")
	changed := maps.Clone(files)
	changed["other.h"] = text("changed")
	if digest(changed, "k.cu") != first {
		t.Error("a header that is not included changes the digest")
	}
	changed["h.h"] = text("int z;")
	if digest(changed, "k.cu") == first {
		t.Error("an included header does not change the digest")
	}
	if digest(fstest.MapFS{"sub/other.cu": files["h.h"]}, "sub/other.cu") != digest(fstest.MapFS{"k.cu": files["h.h"]}, "k.cu") {
		t.Error("the kernel file's name changes the digest")
	}
}

func TestSourceThatIsRefused(t *testing.T) {
	ok := fstest.MapFS{"k.cu": text("x")}
	for _, tt := range []struct {
		name string
		r    Request
		want string
	}{
		{"computed include", request(t, "k.cu", fstest.MapFS{"k.cu": text("\n#include FILE")}), "k.cu:2: #include and #embed need a literal"},
		{"absolute include", request(t, "k.cu", fstest.MapFS{"k.cu": text(`#include "/etc/passwd"`)}), "leaves the bundle"},
		{"parent include", request(t, "k.cu", fstest.MapFS{"k.cu": text(`#include "../x.h"`)}), "leaves the bundle"},
		{"nested parent", request(t, "k.cu", fstest.MapFS{"k.cu": text(`#include "a/h.h"`), "a/h.h": text(`#include "../../x"`)}), "a/h.h:1"},
		{"file name", request(t, "$(x).cu", fstest.MapFS{"$(x).cu": text("x")}), "file name"},
		{"option as name", request(t, "-o.cu", fstest.MapFS{"-o.cu": text("x")}), "file name"},
		{"macro name", request(t, "k.cu", ok, kernel.Macro{Name: "A B", Value: "1"}), "not an identifier"},
		{"macro value", request(t, "k.cu", ok, kernel.Macro{Name: "A", Value: "1\n#include"}), "one line"},
		{"macro continued", request(t, "k.cu", ok, kernel.Macro{Name: "A", Value: `1\`}), "one line"},
		{"macro twice", request(t, "k.cu", ok, kernel.Macro{Name: "A", Value: "1"}, kernel.Macro{Name: "A", Value: "2"}), "twice"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := ReadSource(tt.r)
			var e *Error
			if !errors.As(err, &e) || !strings.Contains(e.Message, tt.want) {
				t.Errorf("got %v, want an *Error with %q", err, tt.want)
			}
		})
	}
}

func TestSourceReadFault(t *testing.T) {
	r := request(t, "k.cu", fstest.MapFS{"k.cu": text(`#include "h.h"`)})
	r.Files = broken{}
	if _, err := ReadSource(r); err == nil {
		t.Error("a file that cannot be read is ignored")
	}
}

type broken struct{}

func (broken) ReadFile(string) ([]byte, error) { return nil, fs.ErrPermission }
