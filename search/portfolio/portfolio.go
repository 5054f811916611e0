// Package portfolio runs several strategies as one (Gomes and Selman,
// "Algorithm portfolios", AIJ 126, 2001), on one record of what was asked and
// answered: model-based search, which asks most while it succeeds, and iterated
// local search, a genetic algorithm and a sample of everywhere that the model
// chooses from, among which a bandit allots the rest. No single strategy is best
// on every space; the portfolio is meant to be as good as the best wherever
// that one is.
package portfolio

import (
	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/search/genetic"
	"github.com/warptune/warptune/search/localsearch"
	"github.com/warptune/warptune/search/surrogate"
	"github.com/warptune/warptune/search/trail"
)

const (
	first   = 10  // questions spread evenly before the members begin
	window  = 60  // answers that the bandit remembers
	explore = 0.1 // weight of its bonus
	sample  = 30  // configurations anywhere, of which the model chooses one
)

// The first member, the model, is asked unless chance says otherwise: with
// probability least after a success, growing with each answer that is none, as
// a model that finds nothing better may have gone astray.
const (
	least = 0.2
	grow  = 0.01
	most  = 0.6
)

// New returns the strategy for a space.
func New(space *search.Space, seed uint64) search.Strategy {
	return trail.Run(space, seed, func(t *trail.Trail) trail.Member { return On(t) })
}

// Portfolio is the member that the others are members of.
type Portfolio struct {
	t      *trail.Trail
	model  *surrogate.Model
	arms   []trail.Member // the others
	bandit bandit         // allots what is not the model's
	owner  map[int64]int  // of a question that is out: the arm
	out    []int          // questions that are out, by arm
	best   search.Observation
	stale  int // answers since the best
}

// On returns the member on a trail.
func On(t *trail.Trail) *Portfolio {
	model := surrogate.On(t)
	p := &Portfolio{
		t: t, model: model,
		arms: []trail.Member{
			&screened{model: model, from: anywhere{t}, of: sample},
			localsearch.Iterated(t),
			genetic.On(t, first),
		},
		owner: map[int64]int{},
	}
	p.out = make([]int, len(p.arms))
	p.bandit = bandit{arms: len(p.arms), window: window, explore: explore}
	return p
}

// Propose implements trail.Member.
func (p *Portfolio) Propose() (int64, bool) {
	others := min(most, least+grow*float64(p.stale))
	if len(p.t.History())+len(p.t.Pending()) < first || p.t.Rand.Float64() >= others {
		return p.model.Propose()
	}
	arm := p.bandit.next(p.out)
	i, ok := p.arms[arm].Propose()
	if !ok || p.t.Seen(i) { // it waits for answers
		return p.model.Propose()
	}
	p.owner[i] = arm
	p.out[arm]++
	return i, true
}

// Observe implements trail.Member.
func (p *Portfolio) Observe(o search.Observation) {
	better := trail.Better(o, p.best)
	p.stale++
	if better {
		p.best, p.stale = o, 0
	}
	if arm, ok := p.owner[o.Index]; ok {
		delete(p.owner, o.Index)
		p.out[arm]--
		p.bandit.used(arm, better)
	}
	p.model.Observe(o)
	for _, a := range p.arms {
		a.Observe(o)
	}
}

// Estimate implements search.Estimator by the model's belief.
func (p *Portfolio) Estimate() (search.Estimate, bool) { return p.model.Estimate() }

// screened proposes what a model expects most of among several proposals of a
// member.
type screened struct {
	model *surrogate.Model
	from  trail.Member
	of    int
}

func (s *screened) Propose() (int64, bool) {
	list := make([]int64, 0, s.of)
	for range s.of {
		if i, ok := s.from.Propose(); ok {
			list = append(list, i)
		}
	}
	return s.model.Choose(list)
}

// Observe tells the member; the model is told as a member itself.
func (s *screened) Observe(o search.Observation) { s.from.Observe(o) }

// anywhere proposes any configuration: of a few drawn far from all that is
// known, a model that has gone astray may still tell the best.
type anywhere struct{ t *trail.Trail }

func (a anywhere) Propose() (int64, bool) {
	if a.t.Space.Size() == 0 {
		return 0, false
	}
	return a.t.Rand.Int64N(a.t.Space.Size()), true
}

func (anywhere) Observe(search.Observation) {}
