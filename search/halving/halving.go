// Package halving decides which configurations that a cheap level of a model has ranked are evaluated at a dear
// one. It is the first half of successive halving (Jamieson and Talwalkar, AISTATS 2016) with two levels, and the
// proof that the rest need not be evaluated. It is a search.Strategy over the ranked configurations.
//
// Without a goal the best share of the ranking is evaluated; if what turns out
// to be best stands in the worse half of that, the ranking is not to be trusted
// so far, and twice as many are. With the goal to be within a share of the
// fastest, the ranking is followed until no configuration that was not
// evaluated can be faster by more than that.
//
// What no evaluation can change is the floor: a configuration whose floor is
// above a time that another one has is not asked for. Ties stay in, so that the
// best is the one that evaluating everything would give.
package halving

import (
	"cmp"
	"math"
	"slices"

	"github.com/warptune/warptune/search"
)

// Share is the part of the ranked configurations that is evaluated at least,
// as a divisor. The rungs of successive halving cost alike when the divisor is
// how many times dearer the second level is: clocking takes 10 to 40 times what
// composing does, and both need what comes before. Of the measured spaces none
// is searched worse than by evaluating everything (docs/SEARCH.md).
const Share = 16

// Least is how many configurations are evaluated at least.
const Least = 8

// Candidate is a configuration as the cheap level sees it.
type Candidate struct {
	Index int64
	Time  float64 // by which it is ranked; +Inf: unknown
	Floor float64 // its time at the dear level is not below; 0: unknown
}

// Goal says when enough is evaluated.
type Goal struct {
	Most int64 // evaluations; 0: no limit
	// Within is the share of the fastest's time by which the best may be
	// slower; negative: as the package comment says.
	Within float64
}

// Strategy asks for ranked configurations. It is told their times at the dear
// level.
type Strategy struct {
	goal    Goal
	ranked  []Candidate // by time, then index
	rank    map[int64]int
	told    map[int64]bool
	next    int // in ranked
	asked   int64
	stage   int // how many of ranked are to be evaluated, pruned ones included
	settled int // how many of the first of ranked are told or pruned
	best    float64
	bestAt  int // rank of the best
}

var _ search.Strategy = (*Strategy)(nil)

// New returns a strategy over candidates, each of another configuration.
func New(candidates []Candidate, goal Goal) *Strategy {
	s := &Strategy{goal: goal, ranked: slices.Clone(candidates), rank: map[int64]int{}, told: map[int64]bool{}, best: math.Inf(1)}
	slices.SortFunc(s.ranked, func(a, b Candidate) int {
		return cmp.Or(cmp.Compare(a.Time, b.Time), cmp.Compare(a.Index, b.Index))
	})
	for i, c := range s.ranked {
		s.rank[c.Index] = i
	}
	s.stage = First(len(s.ranked))
	if goal.Within >= 0 {
		s.stage = len(s.ranked)
	}
	return s
}

// First is how many of n ranked configurations are evaluated unless they turn
// out to be ranked badly.
func First(n int) int { return min(max((n+Share-1)/Share, Least), n) }

// Ahead is how many evaluations of n ranked configurations may be under way:
// each that is may be one that an answer would have saved, and too few keep
// workers waiting.
func Ahead(n int) int { return max(n/(2*Share), Least) }

// Ask implements search.Strategy.
func (s *Strategy) Ask(n int) []int64 {
	var out []int64
	for len(out) < n && !s.over() {
		for s.next < s.stage && !s.wanted(s.next) {
			s.next++
		}
		if s.next == s.stage {
			if !s.widen() {
				break
			}
			continue
		}
		out = append(out, s.ranked[s.next].Index)
		s.next++
		s.asked++
	}
	return out
}

// Done implements search.Strategy.
func (s *Strategy) Done() bool {
	if s.over() {
		return true
	}
	for i := s.next; i < s.stage; i++ {
		if s.wanted(i) {
			return false
		}
	}
	return s.stage == len(s.ranked) || s.evaluated() && !s.astray()
}

func (s *Strategy) over() bool { return s.goal.Most > 0 && s.asked >= s.goal.Most }

// wanted reports whether the candidate of a rank is to be evaluated: it was not
// told, and may still be faster than the best by more than the goal allows.
func (s *Strategy) wanted(rank int) bool {
	c := &s.ranked[rank]
	if s.told[c.Index] {
		return false
	}
	if s.goal.Within > 0 {
		return c.Floor*(1+s.goal.Within) < s.best
	}
	return c.Floor <= s.best
}

// evaluated reports whether all that was asked for has been told.
func (s *Strategy) evaluated() bool {
	for s.settled < s.next {
		if c := &s.ranked[s.settled]; !s.told[c.Index] && s.wanted(s.settled) {
			return false
		}
		s.settled++
	}
	return true
}

// astray reports whether the ranking is not to be trusted so far: the best of
// what it puts first is in the worse half of that, or there is none.
func (s *Strategy) astray() bool { return math.IsInf(s.best, 1) || s.bestAt >= (s.stage+1)/2 }

// widen has more of the ranking evaluated; false if it need not be, or not
// before more is told.
func (s *Strategy) widen() bool {
	if s.stage == len(s.ranked) || !s.evaluated() || !s.astray() {
		return false
	}
	s.stage = min(2*s.stage, len(s.ranked))
	return true
}

// Tell implements search.Strategy.
func (s *Strategy) Tell(obs ...search.Observation) {
	for _, o := range obs {
		rank, ok := s.rank[o.Index]
		if !ok || s.told[o.Index] {
			continue
		}
		s.told[o.Index] = true
		if o.Valid && (o.Objective < s.best || o.Objective == s.best && o.Index < s.ranked[s.bestAt].Index) {
			s.best, s.bestAt = o.Objective, rank
		}
	}
}
