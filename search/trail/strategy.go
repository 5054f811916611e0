package trail

import (
	"math"

	"github.com/warptune/warptune/search"
)

// Member is the part of a strategy that is its own. It never waits: asked for
// more while answers are out, it proposes the best it can without them.
type Member interface {
	// Propose returns a configuration that the trail has not seen. False, or
	// one that it has seen, means that the member has no idea now; any
	// configuration at random will do.
	Propose() (int64, bool)
	// Observe is called once for each configuration told, after the trail has
	// recorded it, whoever proposed it.
	Observe(o search.Observation)
}

// Strategy is a member with the bookkeeping that makes it a search.Strategy:
// it never repeats, and ends when the space is exhausted.
type Strategy struct {
	trail  *Trail
	member Member
}

var (
	_ search.Strategy  = (*Strategy)(nil)
	_ search.Estimator = (*Strategy)(nil)
	_ search.Shedder   = (*Strategy)(nil)
)

// Make builds a member on a trail.
type Make func(*Trail) Member

// Run returns the strategy of one member on a trail of its own.
func Run(space *search.Space, seed uint64, mk Make) *Strategy {
	t := New(space, seed)
	return &Strategy{trail: t, member: mk(t)}
}

// Ask implements search.Strategy. An empty answer means that it is done.
func (s *Strategy) Ask(n int) []int64 {
	var out []int64
	for len(out) < n && !s.Done() {
		i, ok := s.member.Propose()
		if !ok || i < 0 || i >= s.trail.Space.Size() || s.trail.Seen(i) {
			if i, ok = s.trail.Random(); !ok {
				break
			}
		}
		s.trail.ask(i)
		out = append(out, i)
	}
	return out
}

// Tell implements search.Strategy. An objective that is no finite number is none.
func (s *Strategy) Tell(obs ...search.Observation) {
	for _, o := range obs {
		if !o.Valid || math.IsNaN(o.Objective) || math.IsInf(o.Objective, 0) {
			o = search.Observation{Index: o.Index}
		}
		if s.trail.tell(o) {
			s.member.Observe(o)
		}
	}
}

// Done implements search.Strategy.
func (s *Strategy) Done() bool { return s.trail.Left() == 0 }

// Shed implements search.Shedder: the member does, if it is one.
func (s *Strategy) Shed() {
	if m, ok := s.member.(search.Shedder); ok {
		m.Shed()
	}
}

// Estimate implements search.Estimator: the member's, if it is one.
func (s *Strategy) Estimate() (search.Estimate, bool) {
	if e, ok := s.member.(search.Estimator); ok && !s.Done() {
		return e.Estimate()
	}
	return search.Estimate{}, false
}
