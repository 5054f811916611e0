package analytic

import (
	"math"

	"github.com/warptune/warptune/simengine/timing"
	"github.com/warptune/warptune/simengine/timing/cost"
)

func report(f *cost.Figures, in *timing.Input, fp *surveyed, t *traffic, d *demand, s shape, p span, skew timing.Skew) *timing.Result {
	r := &timing.Result{
		Cycles: p.cycles, Floor: math.Min(s.floor(f, in, fp, d), p.cycles), LockstepFloor: s.lockstepFloor(f, d), Skew: skew, TimeUS: in.Arch.Microseconds(p.cycles) + in.Arch.LaunchGapUS,
		CTAs: s.PerSM, ClockedCTAs: 1,
	}
	r.Metrics, r.Work = metrics(f, in, fp, t, s, p)
	r.Account(in.Arch)
	return r
}
