// Package stopping ends a search early: when nothing better was found for long,
// or when the strategy believes that nothing worth the while is left. Both are
// guesses, unlike a proof: how much the second loses is measured in
// docs/search/early.md.
package stopping

import "github.com/warptune/warptune/search"

// Rule says when to stop. The zero value never stops.
type Rule struct {
	// Patience is how many answers in a row may be no better than the best
	// before; 0: any number. Before the first valid one it is fruitless times as
	// many, as valid configurations may be rare.
	Patience int64
	// Negligible is the share of the best objective that is not worth going on
	// for: the search stops when the strategy has believed several times in a
	// row that less is to be gained. 0: never. It has no effect on strategies
	// that believe nothing.
	Negligible float64
}

// The strategy is asked what it believes is left after every so many answers,
// and must say twice in a row that it is negligible.
const (
	every = 8
	twice = 2
)

// fruitless is how many answers that are not valid count as one while none is.
const fruitless = 10

// Strategy is a strategy that stops by a rule.
type Strategy struct {
	search.Strategy
	rule    Rule
	told    int64 // answers
	best    search.Observation
	stale   int64 // answers since best, or in all while none is valid
	content int   // times in a row that what is left was negligible
	stopped bool
}

var (
	_ search.Strategy  = (*Strategy)(nil)
	_ search.Estimator = (*Strategy)(nil)
)

// New returns a strategy that asks as inner does until the rule stops it.
func New(inner search.Strategy, rule Rule) *Strategy {
	return &Strategy{Strategy: inner, rule: rule}
}

// Ask implements search.Strategy: nothing once it has stopped.
func (s *Strategy) Ask(n int) []int64 {
	if s.stopped {
		return nil
	}
	return s.Strategy.Ask(n)
}

// Tell implements search.Strategy. Answers that are out when the search stops
// are still taken.
func (s *Strategy) Tell(obs ...search.Observation) {
	for _, o := range obs {
		s.Strategy.Tell(o)
		s.judge(o)
	}
}

// Done implements search.Strategy.
func (s *Strategy) Done() bool { return s.stopped || s.Strategy.Done() }

// Shed implements search.Shedder: the inner strategy does, if it is one.
func (s *Strategy) Shed() {
	if inner, ok := s.Strategy.(search.Shedder); ok {
		inner.Shed()
	}
}

// Estimate implements search.Estimator.
func (s *Strategy) Estimate() (search.Estimate, bool) {
	if e, ok := s.Strategy.(search.Estimator); ok {
		return e.Estimate()
	}
	return search.Estimate{}, false
}

// Stopped reports whether the rule has stopped the search, which would have
// gone on otherwise.
func (s *Strategy) Stopped() bool { return s.stopped }

// judge takes an answer into account. Once stopped it stays so, whatever
// answers still come.
func (s *Strategy) judge(o search.Observation) {
	s.told++
	switch {
	case o.Valid && (!s.best.Valid || o.Objective < s.best.Objective):
		s.best, s.stale = o, 0
	default:
		s.stale++
	}
	stale := s.stale
	if !s.best.Valid {
		stale /= fruitless
	}
	if s.rule.Patience > 0 && stale >= s.rule.Patience {
		s.stopped = true
	}
	if s.stopped || s.rule.Negligible <= 0 || s.told%every != 0 {
		return
	}
	if e, ok := s.Estimate(); ok && e.Gain < s.rule.Negligible {
		s.content++
	} else {
		s.content = 0
	}
	s.stopped = s.content >= twice
}
