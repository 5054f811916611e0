package clock

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/timing"
	"github.com/warptune/warptune/simengine/trace"
)

// What the counters of a clocked launch say of the units is what the launch is said to do, whatever it is.
func TestCountersSayTheBound(t *testing.T) {
	d := h200(t)
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 200).Draw(rt, "accesses")
		sectors := rapid.IntRange(1, 4).Draw(rt, "sectors")
		grid := rapid.IntRange(1, 2000).Draw(rt, "grid")
		var lines []trace.Line
		for k := range n {
			lines = append(lines, trace.Line{Addr: uint64(k), Sectors: 1<<sectors - 1})
		}
		p, tr := repeated(assemble.Load, ir.Ld, ir.Global, n, trace.Access{Width: 4, Passes: 1, Ideal: 1, NLines: 1, Sectors: uint16(sectors)}, lines)
		r := run(t, input(d, p, tr, grid, 4, 4))
		s, known := timing.Counted(d, r.Metrics, float64(grid))
		for b := timing.BoundIssue; b < timing.BoundLatency; b++ {
			if use := r.Utilisation[b.String()]; known[b] && math.Abs(s[b]-use) > 1e-9+1e-6*use {
				rt.Errorf("%s: %g by the counters, %g is said", b, s[b], use)
			}
		}
		for unit, use := range r.Utilisation {
			if use < 0 || use > 1 {
				rt.Errorf("%s: %g of its peak", unit, use)
			}
		}
		sum := 0.0
		for _, v := range r.SlotShares(d) {
			sum += v
		}
		if math.Abs(sum-1) > 1e-9 {
			rt.Errorf("issue slots add up to %g", sum)
		}
	})
}
