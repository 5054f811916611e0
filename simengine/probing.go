package simengine

import (
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/timing"
	"github.com/warptune/warptune/simengine/trace"
)

// longCTA is the work of a CTA (exec.Runner.Work) from which few are probed: tens of milliseconds each.
const longCTA = 1_000_000

// probeCTA returns the trace of a CTA of which only matters what it reads by the instructions of the one in the middle:
// that of few of its warps where these do not depend on the others but for barriers.
func (r *recording) probeCTA(id int64) (*trace.CTA, error) {
	for _, w := range []traceKey{{id: id}, {id: id, device: true}} {
		if r.asked[w] {
			return r.trace(w)
		}
	}
	w := traceKey{id: id, device: true}
	if r.runner.Program().WarpsOnlyMeet() {
		middle, err := r.cta(timing.Middle(r.grid()))
		if err != nil {
			return nil, err
		}
		w.warps = warpsFor(middle)
	}
	return r.trace(w)
}

// warpsFor is a set of warps, the first ones that do, that access device memory by all instructions by which any does.
func warpsFor(c *trace.CTA) (warps uint32) {
	done := map[int32]bool{}
	for i := range c.Warps {
		for k := range c.Warps[i].Accesses {
			if a := &c.Warps[i].Accesses[k]; a.Space == ir.Global && !done[a.PC] {
				done[a.PC] = true
				warps |= 1 << i
			}
		}
	}
	return warps
}
