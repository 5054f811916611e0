package catalogue

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
)

var directive = regexp.MustCompile(`(?m)^\t\.(?:loc|file)\t.*\n`)

// Lines change nothing else in the PTX of any variant, and are lines of the source. All variants have some but those of
// which the compiler that made them was not at hand.
func TestLocated(t *testing.T) {
	for _, k := range All() {
		a, err := k.Prebuilt()
		if err != nil {
			t.Fatal(err)
		}
		last := bytes.Count(k.Source(), []byte("\n")) + 1
		for macros := range a.variants {
			ptx, _, err := a.Find(macros)
			if err != nil {
				t.Fatal(err)
			}
			with, ok := k.Located(macros)
			if !ok {
				t.Errorf("%s %s: no lines", k.Name, macros)
				continue
			}
			if plain := directive.ReplaceAll(with, nil); !bytes.Equal(plain, ptx) {
				t.Errorf("%s %s: lines change the PTX", k.Name, macros)
			}
			if strings.Count(string(with), "\t.loc\t") < 3 {
				t.Errorf("%s %s: hardly a line", k.Name, macros)
			}
			_, runs, err := linesOf(k.Name, macros)
			if err != nil {
				t.Fatal(err)
			}
			for i := 0; i < len(runs); i += 2 {
				if n := runs[i]; n < 0 || n > last {
					t.Errorf("%s %s: line %d of %d", k.Name, macros, n, last)
				}
			}
		}
	}
}

// Lines that do not fit the PTX are none.
func TestLinesThatDoNotFit(t *testing.T) {
	ptx := []byte(".version 8.0\n.address_size 64\n{\n\tmov.u32 %r1, 0;\n\tret;\n}\n")
	for _, runs := range []LineRuns{nil, {1}, {1, 1}, {1, 3}, {1, 1, 2, 2}, {0, 0, 0, 0}} {
		if with, ok := locate(ptx, "k.cu", runs); ok {
			t.Errorf("%v: %s", runs, with)
		}
	}
	with, ok := locate(ptx, "k.cu", LineRuns{7, 1, 0, 1})
	if want := ".version 8.0\n.address_size 64\n\t.file\t1 \"k.cu\"\n{\n\t.loc\t1 7 0\n\tmov.u32 %r1, 0;\n\tret;\n}\n"; !ok || string(with) != want {
		t.Errorf("%v: %q, want %q", ok, with, want)
	}
}
