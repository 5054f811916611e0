package simengine

import (
	"testing"

	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/timing"
)

// A line's share of the stalls is the same number each time it is computed, though its reasons are in a map.
func TestStallShareIsOneNumber(t *testing.T) {
	k := &ir.Kernel{Instrs: []ir.Instr{{Guard: ir.NoReg}, {Guard: ir.NoReg}}}
	k.Instrs[1].Pos.Line = 1
	sites := []timing.Site{{PC: 0}, {PC: 1}}
	for i := range sites {
		for r := range sites[i].Stalls {
			sites[i].Stalls[r] = 0.1 * float64(r+i+1)
		}
	}
	want := sourceLines(k, sites)
	for range 200 {
		for i, l := range sourceLines(k, sites) {
			if l.StallShare != want[i].StallShare || l.StallShare <= 0 {
				t.Fatalf("line %d: share %v, then %v", i, want[i].StallShare, l.StallShare)
			}
		}
	}
}
