package clock

import (
	"fmt"
	"math"

	"github.com/warptune/warptune/simengine/timing"
	"github.com/warptune/warptune/simengine/timing/cost"
	"github.com/warptune/warptune/simengine/timing/dram"
)

// Run clocks one SM on a sample of the grid and says how long the whole launch takes and why.
// It is deterministic and changes nothing it is given. Errors are those of Input.Validate, of
// Source, and traces or programs that do not fit each other.
func Run(in timing.Input) (*timing.Result, error) {
	if err := in.Validate(); err != nil {
		return nil, err
	}
	if in.Budget == 0 {
		in.Budget = timing.DefaultBudget
	}
	m, err := cost.NewMachine(in.Arch)
	if err != nil {
		return nil, err
	}
	c, err := compile(m, in.Program, in.SlowPaths, in.Matches)
	if err != nil {
		return nil, err
	}
	p, err := gather(m, c, &in)
	if err != nil {
		return nil, err
	}
	g := gridShape{timing.NewShape(&in)}
	e, err := g.either(m, c, &in, p)
	if err != nil {
		return nil, err
	}
	if c.specific {
		e.cycles = math.Max(e.cycles, g.leastOfDRAM(m, p))
	}
	return report(m, c, &in, p, g, e), nil
}

// gridShape is the shape of the grid that is clocked.
type gridShape struct{ timing.Shape }

// estimate is the time of the launch and what it rests on. Cycles.
type estimate struct {
	cycles   float64 // of the kernel, first CTA launched to last CTA done
	spread   float64 // of the completion intervals, relative
	err      float64 // relative, of cycles: of the part that is extrapolated by an interval
	run      *sm     // the clocked run that stands for the whole
	clocked  int64   // CTAs clocked
	interval float64 // cycles between CTA completions in steady state
	skipped  float64 // cycles of the estimate charged for skipped iterations
	dispatch bool    // the launch rate sets the time
}

// either is the estimate of a launch whose CTAs may or may not come apart on a table in
// constant memory (cost.ConstDivergence).
func (g gridShape) either(m *cost.Machine, c *code, in *timing.Input, p *sampleSet) (*estimate, error) {
	together, err := g.estimate(m, c, in, p)
	if err != nil || p.divergence == 0 {
		return together, err
	}
	p.constHold = dram.Ticks(cost.ConstDivergenceHold / float64(m.Schedulers))
	apart, err := g.estimate(m, c, in, p)
	if err != nil {
		return nil, err
	}
	apart.cycles = cost.Between(together.cycles, apart.cycles, p.divergence)
	return apart, nil
}

// estimate clocks as much as the budget allows and extrapolates.
func (g gridShape) estimate(m *cost.Machine, c *code, in *timing.Input, p *sampleSet) (*estimate, error) {
	perCTA := int64(0)
	for _, s := range p.samples {
		perCTA = max(perCTA, s.recorded)
	}
	affordable := in.Budget / max(perCTA, 1)
	long := perCTA*min(minWaves*g.Resident, g.PerSM) > longRun
	if p.skips || long || p.irregular && g.PerSM <= g.Resident {
		return g.rounds(m, c, in, p, affordable)
	}
	return g.stream(m, c, in, p, affordable)
}

// stream clocks CTAs one after another through the SM's slots, and more of them as long as the
// steady state is in doubt and the budget allows.
func (g gridShape) stream(m *cost.Machine, c *code, in *timing.Input, p *sampleSet, affordable int64) (*estimate, error) {
	clocked := max(affordable, min(minWaves*g.Resident, g.PerSM), 1)
	for {
		e, err := g.streamOf(m, c, in, p, clocked)
		if err != nil || e.clocked == g.PerSM || e.spread <= tolerated || clocked >= affordable*maxExtension {
			return e, err
		}
		clocked *= extension
	}
}

// A steady state whose two readings differ by more than tolerated is looked at
// again with extension times the CTAs, up to maxExtension times the budget.
const (
	tolerated    = 0.03
	extension    = 4
	maxExtension = 12
)

// streamOf clocks about so many CTAs: all there are, or a number that leaves the same last
// partial wave. Each CTA left out adds the steady-state interval.
func (g gridShape) streamOf(m *cost.Machine, c *code, in *timing.Input, p *sampleSet, clocked int64) (*estimate, error) {
	if clocked >= g.PerSM {
		clocked = g.PerSM
	} else if p.irregular { // whole rounds of the samples
		clocked = min(max(clocked, minRounds*int64(len(p.samples))+g.Resident), g.PerSM)
	} else {
		clocked = min(clocked+(g.PerSM-clocked)%g.Resident, g.PerSM)
	}
	s := newSM(m, c, in, p, g.Active)
	if err := s.run(clocked, true); err != nil {
		return nil, err
	}
	e := &estimate{run: s, clocked: clocked, cycles: float64(s.stats.cycles)}
	if clocked < g.PerSM {
		e.interval, e.spread = steady(s.done, int(g.Resident))
		if p.irregular {
			e.interval, e.spread = irregularInterval(s.done, int(g.Resident), len(p.samples))
		}
		e.interval = math.Max(e.interval, math.Max(s.interval, s.work()/float64(clocked)))
		e.cycles += float64(g.PerSM-clocked) * e.interval
	} else {
		e.interval = e.cycles / float64(clocked)
	}
	e.cycles = math.Max(e.cycles, s.floor(float64(g.PerSM)/float64(clocked)))
	if clocked < g.PerSM {
		e.cycles = math.Max(e.cycles, e.interval*float64(g.PerSM)*in.Skew.Stretch)
		e.err = e.spread * e.interval * float64(g.PerSM-clocked) / e.cycles
	}
	e.dispatch = e.interval < s.interval*1.02 && clocked < g.PerSM
	return e, nil
}

// longRun is the warp instructions of minWaves waves from which on one wave is clocked: how
// such long CTAs begin and end is a small part of them, and more waves would take seconds.
const longRun = 2_000_000

// floor is the least cycles that scale times the clocked CTAs can take: for each unit its
// service time, what passes before its first request, and from its last one until the CTAs are
// done.
func (s *sm) floor(scale float64) float64 {
	least := float64(s.m.ColdStart) + s.work()*scale
	for _, u := range append(s.mem.Units(), s.lsu, s.texture, s.idc) {
		first, free := u.Span()
		tail := math.Max(float64(s.stats.cycles-free), 0)
		least = math.Max(least, float64(first)+u.BusyCycles()*scale+tail)
	}
	return least
}

// work is the cycles that the busiest unit served: whatever its queue absorbed, no number of
// CTAs takes less of it for each.
func (s *sm) work() float64 { return s.busiest() * float64(s.stats.cycles) }

// minWaves is how often a slot is refilled at least before a steady state is read off.
const minWaves = 3

// steady is the mean interval between completions while every completion is followed by a
// launch, cycles, and the relative difference between its two halves. It is taken over whole
// waves, as far as there are any: CTAs of a wave finish together, and half a wave misleads.
func steady(done []int64, resident int) (interval, spread float64) {
	last := len(done) - resident - 1 // the completion that makes room for the last CTA
	if last < 1 {
		last = len(done) - 1
	}
	if last < 1 {
		return float64(done[0]), 1
	}
	from := 0
	if waves := (last - resident + 1) / resident; waves >= 1 {
		from = last - waves*resident
	} else if last > resident {
		from = last - resident
	}
	mean := func(a, b int) float64 { return float64(done[b]-done[a]) / float64(b-a) }
	interval = mean(from, last)
	if interval <= 0 {
		return interval, 1
	}
	// What another choice of waves would have said.
	other := mean(0, last)
	if waves := (last - from) / resident; waves >= 2 {
		other = mean(from+waves/2*resident, last)
	}
	return interval, math.Abs(other-interval) / interval
}

// rounds is for traces that leave out loop iterations, and for long CTAs. One wave of CTAs is clocked from a common
// start. Skipped iterations are charged at the pace of the recorded ones, with all of the wave in the loop. The grid
// is whole waves of that, and a last one of what remains.
func (g gridShape) rounds(m *cost.Machine, c *code, in *timing.Input, p *sampleSet, affordable int64) (*estimate, error) {
	if p.irregular {
		return g.irregularRounds(m, c, in, p)
	}
	full, rest := g.PerSM/g.Resident, g.PerSM%g.Resident
	e := &estimate{}
	if full > 0 {
		s := newSM(m, c, in, p, g.Active)
		if full > 1 { // most waves are not the first
			s.before = g.Resident
		}
		if err := s.run(g.Resident, false); err != nil {
			return nil, err
		}
		e.run, e.clocked = s, g.Resident
		extra := s.stats.loop.mean()
		wave := g.wave(s, extra)
		e.cycles = wave*float64(full) + float64(m.ColdStart)
		e.skipped = extra * float64(full)
		e.interval = wave / float64(g.Resident)
		e.cycles = math.Max(e.cycles, s.interval*float64(g.PerSM-1))
	}
	if rest > 0 {
		s := newSM(m, c, in, p, g.Active)
		s.before = full * g.Resident
		if err := s.run(rest, false); err != nil {
			return nil, err
		}
		if e.run == nil {
			e.run, e.clocked = s, rest
		}
		extra := s.stats.loop.mean()
		e.cycles += float64(s.stats.cycles) + extra
		if full > 0 {
			e.cycles -= float64(m.ColdStart)
		}
		e.skipped += extra
	}
	if e.run == nil {
		return nil, fmt.Errorf("timing: nothing to clock")
	}
	return e, nil
}

// wave is how long a full wave takes of the grid's time, cycles. What a CTA does outside its
// loop overlaps with other CTAs' loops as far as the loop leaves the busiest unit idle; what
// keeps that unit busy does not.
func (g gridShape) wave(s *sm, extra float64) float64 {
	outside := float64(s.stats.cycles-s.m.ColdStart) + float64(s.vacancy)
	busy := s.work()
	loop := extra / math.Max(extra+outside, 1)
	hidden := (outside - busy) * math.Min(s.busiest(), 1) * loop
	if g.PerSM <= g.Resident {
		return outside - float64(s.vacancy) + extra
	}
	return outside + extra - math.Max(hidden, 0)
}

// mean is the cycles charged to a warp for skipped iterations.
func (l *loopStats) mean() float64 {
	if l.warps == 0 {
		return 0
	}
	return float64(l.extra) / float64(l.warps)
}
