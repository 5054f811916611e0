// Package exhaustive asks for every configuration of a space in enumeration
// order. It learns nothing from answers, and keeps nothing but a position and
// the answers told in advance.
package exhaustive

import "github.com/warptune/warptune/search"

// Strategy asks for all configurations in order.
type Strategy struct {
	size  int64
	next  int64          // the first that was not passed
	known map[int64]bool // from next on, told before being asked
}

var _ search.Strategy = (*Strategy)(nil)

// New returns the strategy for a space.
func New(space *search.Space) *Strategy {
	return &Strategy{size: space.Size(), known: map[int64]bool{}}
}

// Ask implements search.Strategy. An empty answer means that it is done.
func (s *Strategy) Ask(n int) []int64 {
	var out []int64
	for s.skip(); len(out) < n && s.next < s.size; s.skip() {
		out = append(out, s.next)
		s.next++
	}
	return out
}

// skip passes over what is known.
func (s *Strategy) skip() {
	for s.known[s.next] {
		delete(s.known, s.next)
		s.next++
	}
}

// Tell implements search.Strategy: what was not asked yet will not be.
func (s *Strategy) Tell(obs ...search.Observation) {
	for _, o := range obs {
		if o.Index >= s.next && o.Index < s.size {
			s.known[o.Index] = true
		}
	}
}

// Done implements search.Strategy.
func (s *Strategy) Done() bool {
	s.skip()
	return s.next >= s.size
}
