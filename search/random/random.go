// Package random asks for the configurations of a space in random order, each
// once, until none is left. The order is a permutation that is computed, not
// stored, so spaces of any size can be searched. It learns nothing from
// answers.
package random

import "github.com/warptune/warptune/search"

// Strategy asks for configurations uniformly, without repetition.
type Strategy struct {
	order permutation
	next  int64          // position in the order
	known map[int64]bool // indices told before being asked
	asked map[int64]bool // indices asked and not told yet
	left  int64          // neither asked nor known
}

var _ search.Strategy = (*Strategy)(nil)

// New returns the strategy for a space; the seed determines the order.
func New(space *search.Space, seed uint64) *Strategy {
	return &Strategy{
		order: newPermutation(space.Size(), seed),
		known: map[int64]bool{}, asked: map[int64]bool{},
		left: space.Size(),
	}
}

// Ask implements search.Strategy. An empty answer means that it is done.
func (s *Strategy) Ask(n int) []int64 {
	var out []int64
	for len(out) < n && s.left > 0 {
		i := s.order.at(s.next)
		s.next++
		if s.known[i] {
			delete(s.known, i)
			continue
		}
		s.asked[i] = true
		s.left--
		out = append(out, i)
	}
	return out
}

// Tell implements search.Strategy: what was not asked yet will not be.
func (s *Strategy) Tell(obs ...search.Observation) {
	for _, o := range obs {
		switch i := o.Index; {
		case i < 0 || i >= s.order.size:
		case s.asked[i]:
			delete(s.asked, i)
		case !s.known[i] && s.order.position(i) >= s.next:
			s.known[i] = true
			s.left--
		}
	}
}

// Done implements search.Strategy.
func (s *Strategy) Done() bool { return s.left == 0 }
