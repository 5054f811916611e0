package assemble

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine/assemble/asmtest"
	"github.com/warptune/warptune/tuner/kernel/catalogue"
)

var update = flag.Bool("update", false, "rewrite testdata/listings with what the assembler does now")

// TestListings holds the assembler to the exact programs it made before of every built-in
// kernel: a change that is meant to make it clearer or faster must not change what it
// makes. One that is meant to change programs rewrites the listings with -update.
func TestListings(t *testing.T) {
	for _, name := range catalogue.Names() {
		got := listings(t, name)
		path := filepath.Join("testdata", "listings", name+".txt")
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if at, line := firstDifference(got, string(want)); at > 0 {
			t.Errorf("%s, line %d: the program now has\n\t%s\nwhere that file has another line; -update if that is meant", path, at, line)
		}
	}
}

// firstDifference is the number, from 1, of the first line of a text that another text has
// not, and the line; 0 where the texts are equal.
func firstDifference(got, want string) (int, string) {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i, line := range g {
		if i >= len(w) || w[i] != line {
			return i + 1, line
		}
	}
	if len(w) > len(g) {
		return len(g) + 1, "no line"
	}
	return 0, ""
}

// listings are the programs of a kernel's shortest variant, for three generations and
// under a cap that spills where something has to.
func listings(t *testing.T, name string) string {
	v := slices.MinFunc(variants(t, name), func(a, b catalogue.Variant) int {
		return cmp.Or(cmp.Compare(len(a.PTX), len(b.PTX)), cmp.Compare(a.Macros, b.Macros))
	})
	k := asmtest.BuildKernel(t, name, v.PTX)
	var sb strings.Builder
	for _, opt := range []Options{{CC: [2]int{9, 0}}, {CC: [2]int{9, 0}, MaxRegisters: 24}, {CC: [2]int{7, 5}}, {CC: [2]int{8, 6}}} {
		p, err := Prepare(k, opt)
		if err != nil {
			t.Fatal(err)
		}
		u, err := p.assemble(opt)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&sb, "# %s %s, sm_%d%d, cap %d: %d registers, %d bytes spilled\n%s", name, v.Macros, opt.CC[0], opt.CC[1], opt.MaxRegisters,
			u.program.Registers, u.program.SpillBytes, asmtest.Listing(u.mir))
	}
	return sb.String()
}

// variants are the compile variants of a built-in kernel.
func variants(t *testing.T, name string) []catalogue.Variant {
	t.Helper()
	archive, err := os.ReadFile("../../tuner/kernel/catalogue/prebuilt/" + name + ".zst")
	if err != nil {
		t.Fatal(err)
	}
	all, err := catalogue.DecodeArchive(archive)
	if err != nil {
		t.Fatal(err)
	}
	return all
}
