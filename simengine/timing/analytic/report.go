package analytic

import (
	"math"

	"github.com/warptune/warptune/simengine/timing"
	"github.com/warptune/warptune/simengine/timing/cost"
	"github.com/warptune/warptune/simengine/timing/footprint"
)

func report(f *cost.Figures, in *timing.Input, g *footprint.Grid, t *traffic, d *demand, s shape, p span, skew timing.Skew, turn float64) *timing.Result {
	r := &timing.Result{
		Cycles: p.cycles, Floor: math.Min(s.floor(f, in, g, d), p.cycles), LockstepFloor: math.Max(s.lockstepFloor(f, d), turn), Skew: skew, Probed: g.Probed, TimeUS: in.Arch.Microseconds(p.cycles) + in.Arch.LaunchGapUS,
		CTAs: s.PerSM, ClockedCTAs: 1,
	}
	r.Metrics, r.Work = metrics(f, in, g, t, s, p)
	r.Account(in.Arch)
	return r
}
