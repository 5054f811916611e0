package catalogue

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

// What is packed is unpacked as it was: numbers of every kind, and what only looks like one.
func TestPackedIsUnpacked(t *testing.T) {
	const seed = 3
	rng := rand.New(rand.NewPCG(seed, 0))
	words := []string{"%r", "%rd", "%f", " ", "\t", ", ", "[", "]", "+", "-", "\n", "\n", "$L__BB0_", "0f3F800000", "0", "00", "07", "x5", "5x", "1.5", ".f32", "%", "_", "µ", "123456789012345678", "1234567890123456789"}
	f := forms{ids: map[string]int{}}
	var texts [][]byte
	var all []*packed
	for range 300 {
		var text bytes.Buffer
		for range rng.IntN(60) {
			if rng.IntN(3) == 0 {
				fmt.Fprint(&text, rng.Uint64N(1<<rng.IntN(60)))
			}
			text.WriteString(words[rng.IntN(len(words))])
		}
		p, err := f.pack(text.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		texts, all = append(texts, text.Bytes()), append(all, p)
	}
	forms := parts(f.texts)
	columns := interleave(forms, all)
	for i, p := range all {
		all[i] = &packed{Bytes: p.Bytes, ids: p.ids}
	}
	if err := separate(forms, all, columns); err != nil {
		t.Fatal(err)
	}
	for i, p := range all {
		got, err := p.unpack(forms)
		if err != nil || !bytes.Equal(got, texts[i]) {
			t.Fatalf("seed %d: %q is unpacked as %q (%v)", seed, texts[i], got, err)
		}
		for range 20 { // damaged, it is refused or another text, and nothing worse
			d := []*packed{{Bytes: p.Bytes, ids: bytes.Clone(p.ids)}}
			d[0].ids[rng.IntN(len(d[0].ids))] ^= byte(1 + rng.IntN(255))
			if separate(forms, d, interleave(forms, all[i:i+1])) != nil {
				continue
			}
			if got, err := d[0].unpack(forms); err == nil && len(got) != p.Bytes {
				t.Fatalf("seed %d: %d bytes of a text of %d", seed, len(got), p.Bytes)
			}
		}
	}
}

// Registers, offsets and labels are numbers; those in names, types and floating-point constants are not.
func TestParse(t *testing.T) {
	for line, want := range map[string]string{
		"\tfma.rn.f32 \t%f911, %f0, 0f3F800000, %f20;": "\tfma.rn.f32 \t%f_, %f_, 0f3F800000, %f_; [911 0 20]",
		"\tld.global.v4.u32 \t{%r1}, [%rd10+-16];":     "\tld.global.v4.u32 \t{%r_}, [%rd_+-_]; [1 10 16]",
		"@%p1 bra \t$L__BB0_12;":                       "@%p_ bra \t$L__BB0__; [1 12]",
		"\t.shared .align 4 .b8 _ZZ5sgemmE2As[8192];":  "\t.shared .align _ .b8 _ZZ5sgemmE2As[_]; [4 8192]",
	} {
		form, numbers := parse([]byte(line))
		if got := strings.ReplaceAll(form, string(rune(gap)), "_") + fmt.Sprint(" ", numbers); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

func TestBytesThatNoPTXHasAreRefused(t *testing.T) {
	for _, text := range []string{"a\x00b", "\xff"} {
		if _, _, err := EncodeArchive([]Variant{{Macros: `{"A":"1"}`, PTX: []byte(text)}}); err == nil || !strings.Contains(err.Error(), `{"A":"1"}`) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// The largest archive: opened, and the PTX of one variant found in it.
func BenchmarkPrebuiltSGEMM(b *testing.B) {
	archive, err := os.ReadFile("prebuilt/sgemm.zst")
	if err != nil {
		b.Fatal(err)
	}
	b.Run("open", func(b *testing.B) {
		for b.Loop() {
			if _, _, _, err := openArchive(archive); err != nil {
				b.Fatal(err)
			}
		}
	})
	forms, _, variants, err := openArchive(archive)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("find", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			if _, err := variants[i%len(variants)].unpack(forms); err != nil {
				b.Fatal(err)
			}
		}
	})
}
