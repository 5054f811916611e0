package regalloc

import (
	"cmp"
	"os"
	"slices"
	"testing"

	"github.com/warptune/warptune/simengine/assemble/asmtest"
	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/tuner/kernel/catalogue"
)

// catalogued is a built-in kernel lowered to machine instructions for sm_90: of its compile
// variants the one that stands at a share of the way from the shortest PTX to the longest.
func catalogued(t *testing.T, name string, share float64) *mir.Func {
	t.Helper()
	archive, err := os.ReadFile("../../../tuner/kernel/catalogue/prebuilt/" + name + ".zst")
	if err != nil {
		t.Fatal(err)
	}
	all, err := catalogue.DecodeArchive(archive)
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(all, func(a, b catalogue.Variant) int {
		return cmp.Or(cmp.Compare(len(a.PTX), len(b.PTX)), cmp.Compare(a.Macros, b.Macros))
	})
	return asmtest.SelectFor(t, asmtest.BuildKernel(t, name, all[int(share*float64(len(all)-1))].PTX), [2]int{9, 0})
}
