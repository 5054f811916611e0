package model

import (
	"math"

	"github.com/warptune/warptune/simengine/timing"
)

// boundFrom is the utilisation from which on a resource is said to bind, as in
// package timing.
const boundFrom = 0.75

func report(f *timing.Figures, in *timing.Input, fp *footprint, t *traffic, d *demand, s shape, p span, skew timing.Skew) *timing.Result {
	r := &timing.Result{
		Cycles: p.cycles, Floor: math.Min(s.floor(f, in, fp, d), p.cycles), Led: s.led(f, d), Skew: skew, TimeUS: in.Arch.Microseconds(p.cycles) + in.Arch.LaunchGapUS,
		CTAs: s.perSM, ClockedCTAs: 1, Utilisation: map[string]float64{}, Bound: timing.BoundLatency,
	}
	var use [timing.BoundLatency + 1]float64
	names := bounds(f)
	for k, b := range d.busy {
		n := names[k]
		use[n] = math.Max(use[n], b*float64(s.perSM)/p.cycles)
	}
	use[timing.BoundLaunch] = f.LaunchInterval * s.active * float64(s.perSM-1) / p.cycles
	top := boundFrom
	for b := timing.BoundIssue; b <= timing.BoundLaunch; b++ {
		r.Utilisation[b.String()] = math.Min(use[b], 1)
		if use[b] > top {
			top, r.Bound = use[b], b
		}
	}
	r.Bound = r.Bound.Behind(use[:])
	if p.dispatch {
		r.Bound = timing.BoundLaunch
	}
	r.Metrics = metrics(in, fp, t, s, p)
	return r
}
