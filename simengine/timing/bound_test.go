package timing

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/trace"
)

// The unit with most to do of what it can binds, if it comes to BoundFrom of that; else latency does, and the
// unit is named as the nearest.
func TestBoundIsTheNearestUnit(t *testing.T) {
	d := h200(t)
	const cycles = 1e6
	peak := d.DRAMBytesPerCycle() * cycles
	issue := float64(d.SMs*d.SubPartitions) * cycles
	for _, c := range []struct {
		name           string
		work           Work
		bound, nearest Bound
	}{
		{"DRAM near its peak", Work{DRAMRead: 0.5 * peak, DRAMWritten: 0.4 * peak, Instructions: 0.7 * issue}, BoundDRAM, BoundDRAM},
		{"issue near its peak", Work{DRAMRead: 0.65 * peak, Instructions: 0.7 * issue}, BoundIssue, BoundIssue},
		{"DRAM carries 4 %", Work{DRAMRead: 0.04 * peak}, BoundLatency, BoundDRAM},
		{"just under", Work{DRAMWritten: (BoundFrom - 0.001) * peak}, BoundLatency, BoundDRAM},
		{"wavefronts", Work{Wavefronts: 0.9 * float64(d.SMs) * cycles}, BoundLSU, BoundLSU},
		{"stores to L2", Work{L2Written: 0.9 * d.L2WriteBytesPerCycle * cycles / 32}, BoundL2, BoundL2},
		{"short CTAs", Work{CTAs: 0.95 * d.CTALaunchRate * cycles}, BoundLaunch, BoundLaunch},
	} {
		s := c.work.Shares(d, cycles)
		if s.Bound() != c.bound || s.Nearest() != c.nearest {
			t.Errorf("%s: bound %s, nearest %s, want %s and %s", c.name, s.Bound(), s.Nearest(), c.bound, c.nearest)
		}
	}
}

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
		s, known := Counted(d, r.Metrics, float64(grid))
		for b := BoundIssue; b < BoundLatency; b++ {
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
