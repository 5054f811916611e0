package timing

import (
	"math"

	"github.com/warptune/warptune/simengine/timing/dram"
)

// boundFrom is the utilisation from which on a resource is said to bind: queues
// in front of a unit that is busier than this set the time.
const boundFrom = 0.75

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

// wholeUsage is the busy share of each resource of the busiest SM over the whole
// launch: arithmetic from the instructions there are, the memory units from what
// they served in the clocked run.
func (e *estimate) wholeUsage(p *pool, g gridShape) [numBounds]float64 {
	s := e.run
	u := s.usage()
	perCTA := 1 / math.Max(float64(p.counts.samples), 1)
	cycles := math.Max(e.cycles, 1)
	slots := cycles * float64(s.m.schedulers)
	ctas := float64(g.perSM)
	u[BoundIssue] = (float64(p.counts.instrs) + float64(p.counts.held)/dram.Fraction) * perCTA * ctas / slots
	for _, b := range pipeBounds {
		u[b] = 0
	}
	for c, n := range p.counts.class {
		spec := s.m.classes[c]
		if b, ok := pipeBounds[spec.pipe]; ok {
			u[b] += float64(n) * perCTA * ctas * float64(spec.interval) / dram.Fraction / slots
		}
	}
	more := float64(s.stats.cycles) / cycles * ctas / math.Max(float64(e.clocked), 1)
	if p.counts.words > 0 {
		u[BoundConstant] *= more * float64(p.counts.allWords) / float64(p.counts.words)
	}
	if p.counts.memory > 0 {
		more *= float64(p.counts.all) / float64(p.counts.memory)
	}
	for _, b := range [...]Bound{BoundLSU, BoundL2, BoundDRAM} {
		u[b] *= more
	}
	u[BoundLaunch] = s.interval * (ctas - 1) / cycles
	return u
}

func (s *sm) bound(e *estimate, u [numBounds]float64) Bound {
	best := BoundLatency
	top := boundFrom
	for b := BoundIssue; b < numBounds; b++ {
		if u[b] > top {
			best, top = b, u[b]
		}
	}
	if e.dispatch {
		return BoundLaunch
	}
	best = best.Behind(u[:])
	if best == BoundLatency {
		var sum int64
		for _, v := range s.stats.warpTime {
			sum += v
		}
		if 2*s.stats.warpTime[Barrier] > sum {
			best = BoundBarrier
		}
	}
	return best
}

func report(m *machine, c *code, in *Input, p *pool, g gridShape, e *estimate) *Result {
	s := e.run
	r := &Result{
		Cycles: e.cycles, ClockedCTAs: e.clocked, CTAs: g.perSM, SampleError: e.err,
		SchedulerCycles: s.stats.cycles * int64(m.schedulers), Issued: s.stats.issued, Slots: s.stats.slots,
		Utilisation: map[string]float64{},
	}
	r.TimeUS = m.arch.Microseconds(e.cycles) + m.arch.LaunchGapUS
	u := e.wholeUsage(p, g)
	r.Bound = s.bound(e, u)
	for b := BoundIssue; b <= BoundLaunch; b++ {
		r.Utilisation[b.String()] = math.Min(u[b], 1)
	}
	if s.stats.issued > 0 {
		for k, v := range s.stats.warpTime {
			r.WarpStalls[k] = float64(v) / (float64(s.stats.issued) * p.counts.skipped())
		}
	}
	r.Metrics = metrics(m, c, in, p, g, e)
	return r
}
