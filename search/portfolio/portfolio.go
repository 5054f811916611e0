// Package portfolio runs several strategies as one (Gomes and Selman, "Algorithm portfolios", AIJ 126, 2001), on
// one record of what was asked and answered. Search by a committee of Gaussian processes leads: while it finds
// better configurations every so often, nobody else is asked, and the portfolio is as good as it is. When it has
// found none for a while its model may have gone astray. A share of the questions that grows goes to strategies
// that believe something else or nothing: a forest, iterated local search and a genetic algorithm. A bandit chooses
// among them. The committee learns from their answers as from its own.
package portfolio

import (
	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/search/gaussian"
	"github.com/warptune/warptune/search/genetic"
	"github.com/warptune/warptune/search/localsearch"
	"github.com/warptune/warptune/search/surrogate"
	"github.com/warptune/warptune/search/trail"
)

const (
	patience = 50   // answers without a better one before others are asked too
	grow     = 0.01 // of their share, with each further such answer,
	most     = 0.5  // up to this

	window  = 60  // answers that the bandit remembers
	explore = 0.1 // weight of its bonus
)

// New returns the strategy for a space.
func New(space *search.Space, seed uint64) search.Strategy {
	return From(nil, space, seed)
}

// From returns the strategy for a space of which objectives were predicted: the committee begins
// with what is predicted best and learns what predictions do not say.
func From(predicted search.Prior, space *search.Space, seed uint64) search.Strategy {
	return trail.Run(space, seed, func(t *trail.Trail) trail.Member { return On(t, predicted) })
}

// Portfolio is the member that the others are members of.
type Portfolio struct {
	t      *trail.Trail
	leader *gaussian.Model
	arms   []trail.Member // the others; none until they are needed
	bandit bandit         // chooses among them
	owner  map[int64]int  // of a question that is out: the arm
	out    []int          // questions that are out, by arm
}

var _ search.Estimator = (*Portfolio)(nil)

// On returns the member on a trail.
func On(t *trail.Trail, predicted search.Prior) *Portfolio {
	return &Portfolio{t: t, leader: gaussian.Committee(t, predicted), owner: map[int64]int{}}
}

// Propose implements trail.Member.
func (p *Portfolio) Propose() (int64, bool) {
	stale := p.t.Stale()
	if stale < patience || p.t.Rand.Float64() >= min(most, grow*float64(stale-patience)) {
		return p.leader.Propose()
	}
	p.gather()
	arm := p.bandit.next(p.out)
	i, ok := p.arms[arm].Propose()
	if !ok || p.t.Seen(i) { // it waits for answers
		return p.leader.Propose()
	}
	p.owner[i] = arm
	p.out[arm]++
	return i, true
}

// gather sets up the others, with what is known, if they are not yet.
func (p *Portfolio) gather() {
	if p.arms != nil {
		return
	}
	p.arms = []trail.Member{surrogate.On(p.t), localsearch.Iterated(p.t), genetic.On(p.t, 0)}
	p.out = make([]int, len(p.arms))
	p.bandit = bandit{arms: len(p.arms), window: window, explore: explore}
	for _, o := range p.t.History() {
		for _, a := range p.arms {
			a.Observe(o)
		}
	}
}

// Observe implements trail.Member.
func (p *Portfolio) Observe(o search.Observation) {
	if arm, ok := p.owner[o.Index]; ok {
		delete(p.owner, o.Index)
		p.out[arm]--
		p.bandit.used(arm, p.t.Stale() == 0)
	}
	p.leader.Observe(o)
	for _, a := range p.arms {
		a.Observe(o)
	}
}

// Shed implements search.Shedder.
func (p *Portfolio) Shed() {
	p.leader.Shed()
	for _, a := range p.arms {
		if a, ok := a.(search.Shedder); ok {
			a.Shed()
		}
	}
}

// Estimate implements search.Estimator by the leader's belief.
func (p *Portfolio) Estimate() (search.Estimate, bool) { return p.leader.Estimate() }
