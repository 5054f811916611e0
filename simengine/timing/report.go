package timing

import (
	"math"

	"github.com/warptune/warptune/simengine/timing/dram"
)

var pipeBounds = map[pipe]Bound{
	pipeALU: BoundALU, pipeFMA: BoundFMA, pipeIMAD: BoundIMAD, pipeFP64: BoundFP64, pipeHalf: BoundHalf, pipeTensor: BoundTensor, pipeXU: BoundXU,
}

// usage is the busy share of each resource over the clocked run.
func (s *sm) usage() [numBounds]float64 {
	var u [numBounds]float64
	cycles := math.Max(float64(s.stats.cycles), 1)
	u[BoundIssue] = float64(s.stats.issued) / (cycles * float64(s.m.schedulers))
	for p, b := range pipeBounds {
		u[b] = float64(s.stats.pipeBusy[p]) / dram.Fraction / (cycles * float64(s.m.schedulers))
	}
	u[BoundLSU] = s.lsu.BusyCycles() / cycles
	u[BoundConstant] = s.idc.BusyCycles() / cycles
	l2, mem := s.mem.Busy()
	u[BoundL2], u[BoundDRAM] = l2/cycles, mem/cycles
	if s.stagger && len(s.done) > 1 {
		u[BoundLaunch] = s.interval * float64(len(s.done)-1) / cycles
	}
	return u
}

// busiest is the utilisation of the busiest resource; above 1 when work was
// still queued at the end.
func (s *sm) busiest() float64 {
	b := 0.0
	for _, v := range s.usage() {
		b = math.Max(b, v)
	}
	return b
}

func report(m *machine, c *code, in *Input, p *pool, g gridShape, e *estimate) *Result {
	s := e.run
	r := &Result{
		Cycles: e.cycles, ClockedCTAs: e.clocked, CTAs: g.perSM, SampleError: e.err,
		Sampled: p.skips, SchedulerCycles: s.stats.cycles * int64(m.schedulers), Issued: s.stats.issued, Slots: s.stats.slots,
	}
	r.TimeUS = m.arch.Microseconds(e.cycles) + m.arch.LaunchGapUS
	if s.stats.issued > 0 {
		for k, v := range s.stats.warpTime {
			r.WarpStalls[k] = float64(v) / (float64(s.stats.issued) * p.counts.skipped())
		}
	}
	r.Metrics, r.Work = metrics(m, c, in, p, g, e)
	r.Account(m.arch)
	return r
}
