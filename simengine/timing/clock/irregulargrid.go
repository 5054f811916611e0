package clock

import (
	"math"

	"github.com/warptune/warptune/simengine/timing"
	"github.com/warptune/warptune/simengine/timing/cost"
)

// Grids whose CTAs differ in their work. The samples are drawn from all of the grid, and
// replayed in turns.

// minRounds is how often each of CTAs that differ is clocked at least.
const minRounds = 2

// irregularInterval is the mean interval between completions of n CTAs that differ and run in turns. It is over the
// last n completions before slots stay empty, in which each CTA completes about once. spread is how much that differs
// from the mean over all completions before, as a share.
func irregularInterval(done []int64, resident, n int) (interval, spread float64) {
	last := len(done) - resident - 1
	if last < 1 {
		last = len(done) - 1
	}
	if last < 1 {
		return float64(done[0]), 1
	}
	n = min(n, last)
	interval = float64(done[last]-done[last-n]) / float64(n)
	before := float64(done[last]-done[0]) / float64(last)
	return interval, math.Abs(before-interval) / math.Max(interval, 1)
}

// mostWaves bounds the waves that are clocked of CTAs that differ and whose traces leave out
// loop iterations.
const mostWaves = 4

// irregularRounds is rounds for CTAs that differ: a few waves of them are clocked from a common
// start. The grid is then as many turns of a slot as it has full waves, each as long as a CTA
// held its slot in the mean.
func (g gridShape) irregularRounds(m *cost.Machine, c *code, in *timing.Input, p *sampleSet) (*estimate, error) {
	n := int64(len(p.samples))
	waves := min((n+g.Resident-1)/g.Resident, mostWaves)
	e := &estimate{}
	var life, extra float64
	for k := range waves {
		s := newSM(m, c, in, p, g.Active)
		s.first = k * n / waves
		if err := s.run(g.Resident, false); err != nil {
			return nil, err
		}
		skipped := s.stats.loop.mean()
		sum := 0.0
		for _, at := range s.done {
			sum += float64(at - s.m.ColdStart)
		}
		held := sum / float64(len(s.done)) * p.left(in, s.first, g.Resident)
		life += (held + skipped + float64(s.vacancy)) / float64(waves)
		extra += skipped / float64(waves)
		e.run = s
	}
	if c.specific && in.Skew.Stretch > 0 {
		scale := p.lengthOf(waves, g.Resident)
		life, extra = life*scale, extra*scale
	}
	e.clocked = g.Resident
	stretch := in.Skew.Stretch
	if stretch == 0 {
		stretch = 1
	}
	turns := max(in.Skew.Waves, float64(g.PerSM)/float64(g.Resident))
	e.interval = life / float64(g.Resident)
	e.cycles = turns*life*stretch + float64(m.ColdStart)
	e.skipped = extra * turns
	e.cycles = math.Max(e.cycles, e.run.interval*float64(g.PerSM-1))
	return e, nil
}

// lengthOf is how many times as long the samples are in the mean as those that so many waves clock.
func (p *sampleSet) lengthOf(waves, resident int64) float64 {
	n := int64(len(p.lengths))
	var all, clocked float64
	for _, l := range p.lengths {
		all += l / float64(n)
	}
	for k := range waves {
		for i := range resident {
			clocked += p.lengths[(k*n/waves+i)%n] / float64(waves*resident)
		}
	}
	if clocked <= 0 {
		return 1
	}
	return all / clocked
}

// left is makespan.Device.Left of n samples from first on; 1 where their lengths are not known.
func (p *sampleSet) left(in *timing.Input, first, n int64) float64 {
	if in.Skew.Stretch == 0 {
		return 1
	}
	lengths := make([]float64, n)
	for i := range lengths {
		lengths[i] = p.lengths[(first+int64(i))%int64(len(p.lengths))]
	}
	return in.Skew.Share.Left(lengths)
}
