package clock

import (
	"math"

	"github.com/warptune/warptune/simengine/timing"
	"github.com/warptune/warptune/simengine/timing/cost"
	"github.com/warptune/warptune/simengine/timing/dram"
)

// usage is the busy share of each unit over the clocked run.
func (s *sm) usage() [timing.NumBounds]float64 {
	var u [timing.NumBounds]float64
	cycles := math.Max(float64(s.stats.cycles), 1)
	u[timing.BoundIssue] = float64(s.stats.issued) / (cycles * float64(s.m.Schedulers))
	for p, b := range cost.PipeBounds {
		u[b] = float64(s.stats.pipeBusy[p]) / dram.Fraction / (cycles * float64(s.m.Schedulers))
	}
	u[timing.BoundLSU] = s.lsu.BusyCycles() / cycles
	u[timing.BoundTexture] = s.texture.BusyCycles() / cycles
	u[timing.BoundConstant] = s.idc.BusyCycles() / cycles
	l2, mem := s.mem.Busy()
	u[timing.BoundL2], u[timing.BoundDRAM] = l2/cycles, mem/cycles
	if s.stagger && len(s.done) > 1 {
		u[timing.BoundLaunch] = s.interval * float64(len(s.done)-1) / cycles
	}
	return u
}

// busiest is the usage of the busiest unit; above 1 when work was still queued at the end.
func (s *sm) busiest() float64 {
	b := 0.0
	for _, v := range s.usage() {
		b = math.Max(b, v)
	}
	return b
}

func report(m *cost.Machine, c *code, in *timing.Input, p *sampleSet, g gridShape, e *estimate) *timing.Result {
	s := e.run
	r := &timing.Result{
		Cycles: e.cycles, ClockedCTAs: e.clocked, CTAs: g.PerSM, SampleError: e.err,
		Sampled: p.skips, SchedulerCycles: s.stats.cycles * int64(m.Schedulers), Issued: s.stats.issued, Slots: s.stats.slots,
	}
	r.TimeUS = m.Arch.Microseconds(e.cycles) + m.Arch.LaunchGapUS
	if s.stats.issued > 0 {
		for k, v := range s.stats.warpTime {
			r.WarpStalls[k] = float64(v) / (float64(s.stats.issued) * p.counts.skipped())
		}
	}
	r.Metrics, r.Work = metrics(m, c, in, p, g, e)
	r.Account(m.Arch)
	if in.Profile {
		r.Sites = sites(c, p, g, e)
	}
	return r
}
