package analytic

import (
	"math"

	"github.com/warptune/warptune/simengine/timing"
	"github.com/warptune/warptune/simengine/timing/cost"
	"github.com/warptune/warptune/simengine/timing/makespan"
)

// skew lengthens the time of a grid whose CTAs differ until its last SM is done, or shortens it where the longest come
// first, and returns by how much. What SMs share they also share when some are done: only what is an SM's own takes
// longer.
func (s shape) skew(f *cost.Figures, in *timing.Input, d *demand, p *span) timing.Skew {
	if len(in.Lengths) == 0 {
		return timing.Skew{}
	}
	own := *d
	own.apart, own.contended, own.lockstep = 0, 0, 0
	share := makespan.Device{SMs: in.ActiveSMs(), Resident: int(s.Resident), Alone: d.alone + d.vacancy}
	all := share
	for r := range resource(numResources) {
		all.Busy = math.Max(all.Busy, d.busy[r])
		if r.shared() {
			own.busy[r], own.blocking[r], own.idle[r] = 0, 0, 0
		}
		share.Busy = math.Max(share.Busy, own.busy[r])
	}
	times := makespan.Skew(in.Grid, in.Lengths, share)
	before, alone := p.cycles, s.span(f, &own).cycles
	if times < 1 {
		p.cycles -= (1 - times) * alone
	}
	p.cycles = math.Max(p.cycles, alone*times)
	p.ctas *= before / p.cycles
	return timing.Skew{Stretch: p.cycles / before, Waves: all.Waves(s.PerSM), Share: share}
}
