// Package seeded puts configurations before those that a strategy asks for:
// what was best of the same kernel at another problem size or on another
// architecture, or what somebody brings along. Ranks carry over where times do
// not, so the strategy is told nothing but what these configurations come to
// here.
package seeded

import (
	"slices"

	"github.com/warptune/warptune/search"
)

// What is begun with: the Best best configurations of each of the Sources
// nearest other results.
const (
	Best    = 8
	Sources = 2
)

// Strategy asks for given configurations first, then for what another strategy
// does.
type Strategy struct {
	inner search.Strategy
	first []int64 // not asked for yet
	// seeds are the configurations asked for first, with what was told of
	// them; nil: nothing yet.
	seeds map[int64]*search.Observation
	told  map[int64]bool // told before they were asked for
}

var _ search.Strategy = (*Strategy)(nil)

// New returns a strategy that asks for the first configurations, in order, and
// then as inner does, which must not have been asked or told anything. Those of
// first that are not in the space are left out, as is the second of two.
func New(space *search.Space, inner search.Strategy, first []search.Config) *Strategy {
	s := &Strategy{inner: inner, seeds: map[int64]*search.Observation{}, told: map[int64]bool{}}
	for _, c := range first {
		if i, ok := space.IndexOf(c); ok && !slices.Contains(s.first, i) {
			s.first = append(s.first, i)
		}
	}
	return s
}

// Left is how many of the first configurations are not asked for yet.
func (s *Strategy) Left() int { return len(s.first) }

// Ask implements search.Strategy.
func (s *Strategy) Ask(n int) []int64 {
	var out []int64
	for len(out) < n && len(s.first) > 0 {
		i := s.first[0]
		s.first = s.first[1:]
		if !s.told[i] {
			s.seeds[i] = nil
			out = append(out, i)
		}
	}
	for len(out) < n {
		asked := s.inner.Ask(n - len(out))
		if len(asked) == 0 {
			break
		}
		for _, i := range asked {
			if o, ok := s.seeds[i]; !ok {
				out = append(out, i)
			} else if o != nil {
				s.inner.Tell(*o) // it asks although it was told
			}
		}
	}
	return out
}

// Tell implements search.Strategy.
func (s *Strategy) Tell(obs ...search.Observation) {
	for _, o := range obs {
		if _, ok := s.seeds[o.Index]; ok {
			s.seeds[o.Index] = &o
		} else if len(s.first) > 0 {
			s.told[o.Index] = true
		}
		s.inner.Tell(o)
	}
}

// Done implements search.Strategy.
func (s *Strategy) Done() bool {
	if len(s.first) > 0 && !slices.ContainsFunc(s.first, func(i int64) bool { return !s.told[i] }) {
		s.first = nil
	}
	return len(s.first) == 0 && s.inner.Done()
}

// Shed implements search.Shedder: the inner strategy does, if it is one.
func (s *Strategy) Shed() {
	if inner, ok := s.inner.(search.Shedder); ok {
		inner.Shed()
	}
}

// Estimate implements search.Estimator: the inner strategy's, if it is one.
func (s *Strategy) Estimate() (search.Estimate, bool) {
	if e, ok := s.inner.(search.Estimator); ok {
		return e.Estimate()
	}
	return search.Estimate{}, false
}
