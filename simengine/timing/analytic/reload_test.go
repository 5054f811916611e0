package analytic

import (
	"math"
	"slices"
	"testing"

	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/ir"
)

// A reload right before its use costs what one costs that stands where ptxas has it (cost.Leads): nothing where the
// block has that many instructions before it, its latency where the block begins with it.
func TestReloadsAreAskedForAhead(t *testing.T) {
	const body, iterations = 60, 32
	d := h200(t)
	reloadAt := func(at, use int) float64 {
		k, tr := looping(assemble.FMA, body, iterations, iterations, true, false)
		b := &k.code.Blocks[1]
		b.Instrs[use].Src[1] = assemble.RegSpan{First: 2, Count: 1}
		b.Instrs = slices.Insert(b.Instrs, at, assemble.Instr{Class: assemble.Load, Source: -1, Space: ir.Local, Width: 4, Spill: 0, Carried: -1, Dst: [2]assemble.RegSpan{{First: 2, Count: 1}}})
		k.code.SpillBytes, k.code.LocalBytes = 4, 4
		return predict(t, input(d, k, tr, 1, 1, 1)).Cycles
	}
	late, early, first := reloadAt(body-1, body-1), reloadAt(body-43, body-1), reloadAt(0, 0)
	if math.Abs(late-early) > iterations {
		t.Errorf("%.0f cycles with a reload right before its use, %.0f with one 42 instructions before", late, early)
	}
	if first < late+iterations*20 {
		t.Errorf("%.0f cycles with a reload and its use at the start of the block, %.0f at its end", first, late)
	}
}
