package analytic

import (
	"math"

	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/simengine/timing"
	"github.com/warptune/warptune/simengine/timing/cost"
)

// hopRest is what a look at another CTA's value takes beyond L2's latency, cycles: the loop's instructions, and the turn at
// which the value becomes visible. See inTurn.
const hopRest = 125

// inTurn is the least time of a grid whose CTAs look back for the values of the CTAs before them (ir.CTAWait), cycles; 0
// for others.
//
// CTAs are done in the order of their turns, as no one goes on before those before it have their values. So those that
// start together also end together, and the next ones have nothing to overlap with: what a wave takes of the unit that has
// most to do comes on top of what a CTA takes alone. On an H200 a wave of 132 CTAs of 1,024 threads, 2 an SM, takes
// 2.9 to 3.6 us beyond its DRAM traffic whatever that is (16 to 64 KB of reads a CTA), and CTAs that do not wait take nothing.
//
// A value that a CTA leaves is seen by others a hop later. CTAs start at a rate, so that behind the last one whose sum is
// known there are always rate times hop others whose own values are added up, at a hop for as many as a warp looks at
// together. One lane looking for itself takes 0.047 to 0.055 us^2 times the rate longer than 32 (64 to 1,024 threads a CTA,
// 20 to 200 CTAs a us): a hop of 455 cycles (deploy/calibrate lookback.py, results/h200-lookback.jsonl.gz).
func (s shape) inTurn(f *cost.Figures, in *timing.Input, d *demand) float64 {
	w := in.Program.Kernel.WaitsForCTAs()
	if !w.Back {
		return 0
	}
	n, all := float64(s.Resident), float64(s.Resident)*s.Active
	busy := 0.0
	for _, b := range d.busy {
		busy = math.Max(busy, b)
	}
	hop := (in.Arch.Latency[arch.LatencyL2]+in.Arch.Latency[arch.LatencyL2Far])/2 + hopRest
	wave := n*busy + (n-1)*f.LaunchInterval*s.Active + d.alone + d.vacancy + 2*hop
	hops := hop * hop * all / float64(w.Values)
	wave = (wave + math.Sqrt(wave*wave+4*hops)) / 2 // which is by hops/wave longer
	return f.ColdStart + wave*math.Max(float64(s.PerSM)/n, 1)
}
