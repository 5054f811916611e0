// Package evolution is differential evolution (Storn and Price, J. Global
// Optim. 11, 1997), scheme current-to-best/1 with binomial crossover, on the
// indices of values as coordinates: a trial takes its target's place when it is
// better. Trials that are no configurations are repaired to near ones. Targets
// take turns and none waits for another, so any number of trials may be out.
package evolution

import (
	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/search/trail"
)

const (
	population = 16
	crossover  = 0.7 // probability that a coordinate is the mutant's
)

// New returns the strategy for a space.
func New(space *search.Space, seed uint64) search.Strategy {
	return trail.Run(space, seed, func(t *trail.Trail) trail.Member { return On(t) })
}

// Population is the member that evolves.
type Population struct {
	t       *trail.Trail
	members []search.Observation
	trials  map[int64]int // asked, by the member they may replace
	next    int           // the member whose turn it is
	x, best []float64     // scratch
	a, b    []float64
}

// On returns the member on a trail.
func On(t *trail.Trail) *Population { return &Population{t: t, trials: map[int64]int{}} }

// Propose implements trail.Member.
func (p *Population) Propose() (int64, bool) {
	if len(p.members) < population {
		return p.t.Random()
	}
	target := p.next
	p.next = (p.next + 1) % population
	best, _ := p.t.Best()
	a, b := p.t.Rand.IntN(population), p.t.Rand.IntN(population-1)
	if b >= a {
		b++
	}
	p.x, p.best = p.t.Digits(p.members[target].Index, p.x[:0]), p.t.Digits(best.Index, p.best[:0])
	p.a, p.b = p.t.Digits(p.members[a].Index, p.a[:0]), p.t.Digits(p.members[b].Index, p.b[:0])
	f := 0.4 + 0.6*p.t.Rand.Float64() // dithered (Price, Storn and Lampinen, 2005)
	sure := p.t.Rand.IntN(len(p.x))
	for k := range p.x {
		if k == sure || p.t.Rand.Float64() < crossover {
			p.x[k] += f*(p.best[k]-p.x[k]) + f*(p.a[k]-p.b[k])
		}
	}
	i, ok := p.t.Repair(p.x)
	if ok {
		p.trials[i] = target
	}
	return i, ok
}

// Observe implements trail.Member.
func (p *Population) Observe(o search.Observation) {
	target, ours := p.trials[o.Index]
	delete(p.trials, o.Index)
	switch {
	case len(p.members) < population:
		if o.Valid {
			p.members = append(p.members, o)
		}
	case ours:
		if trail.Better(o, p.members[target]) {
			p.members[target] = o
		}
	default: // found by others
		worst := 0
		for k := range p.members {
			if trail.Better(p.members[worst], p.members[k]) {
				worst = k
			}
		}
		if trail.Better(o, p.members[worst]) {
			p.members[worst] = o
		}
	}
}
