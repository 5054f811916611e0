package include

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

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
		{"digraph", "%:include \"a.h\"", nil, nil, []string{"a.h"}, true},
		{"trigraphs", "??=inc??/\nlude \"a.h\"", nil, nil, []string{"a.h"}, false},
		{"other blanks", "#\finclude\v\"a.h\"", nil, nil, []string{"a.h"}, false},
		{"continued before a blank", "#inc\\ \t\nlude \"a.h\"", nil, nil, []string{"a.h"}, false},
		{"a name that ends in R", "fooR\"( \"\n#include \"a.h\"\n// )\"", []string{"fooR"}, nil, []string{"a.h"}, false},
		{"a literal behind a number", "1'\"' \"/*\"\n#include \"a.h\"\n//*/", nil, nil, []string{"a.h"}, false},
		{"a directive in a raw string", "R\"(\n#include \"a.h\"\n)\"", nil, nil, []string{""}, false},
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
