// Package trail is what strategies that learn have in common: the record of
// what was asked and what came of it, and the Ask/Tell bookkeeping around a
// Member, the part that is a strategy's own. Several members can share one
// trail, as a portfolio's do.
//
// It chooses nothing itself but configurations at random.
package trail

import (
	"math/rand/v2"
	"slices"
	"sort"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/search/random"
)

// Trail records which configurations of a space were asked for or told. Memory
// goes with those, not with the space.
type Trail struct {
	Space *search.Space
	Rand  *rand.Rand

	seen    map[int64]bool // asked or told
	told    map[int64]search.Observation
	history []search.Observation // told, in order, each configuration once
	pending []int64              // asked and not told, in order
	order   *random.Strategy
	ranked  []search.Observation // the valid ones, best first
	digits  []int                // scratch
	point   []float64            // scratch
}

// New returns an empty trail.
func New(space *search.Space, seed uint64) *Trail {
	return &Trail{
		Space: space,
		Rand:  rand.New(rand.NewPCG(seed, 0x7761727074756e65)),
		seen:  map[int64]bool{}, told: map[int64]search.Observation{},
		order: random.New(space, seed),
	}
}

// Left returns how many configurations were neither asked for nor told.
func (t *Trail) Left() int64 { return t.Space.Size() - int64(len(t.seen)) }

// Seen reports whether a configuration was asked for or told.
func (t *Trail) Seen(i int64) bool { return t.seen[i] }

// Told returns what was told of a configuration.
func (t *Trail) Told(i int64) (search.Observation, bool) {
	o, ok := t.told[i]
	return o, ok
}

// History returns what was told, in order, each configuration once. Do not
// modify.
func (t *Trail) History() []search.Observation { return t.history }

// Pending returns what was asked for and not told, in order. Do not modify.
func (t *Trail) Pending() []int64 { return t.pending }

// Ranked returns the valid observations, best first, of equals the first told.
// Do not modify.
func (t *Trail) Ranked() []search.Observation { return t.ranked }

// Best returns the best valid observation, the first of equals.
func (t *Trail) Best() (search.Observation, bool) {
	if len(t.ranked) == 0 {
		return search.Observation{}, false
	}
	return t.ranked[0], true
}

// Stale returns how many answers are known since the best, or in all while none
// is valid.
func (t *Trail) Stale() int {
	for k := range t.history {
		if i := t.history[len(t.history)-1-k].Index; len(t.ranked) > 0 && i == t.ranked[0].Index {
			return k
		}
	}
	return len(t.history)
}

// Random returns a configuration not seen, uniformly; false: none is left. It
// marks nothing, but will not return the same one again.
func (t *Trail) Random() (int64, bool) {
	for {
		next := t.order.Ask(1)
		if len(next) == 0 {
			return 0, false
		}
		if !t.seen[next[0]] {
			return next[0], true
		}
	}
}

// ask marks a configuration as asked for.
func (t *Trail) ask(i int64) {
	t.seen[i] = true
	t.pending = append(t.pending, i)
}

// tell records an observation; false: it says nothing new.
func (t *Trail) tell(o search.Observation) bool {
	if o.Index < 0 || o.Index >= t.Space.Size() {
		return false
	}
	if _, ok := t.told[o.Index]; ok {
		return false
	}
	if t.seen[o.Index] {
		for k, i := range t.pending {
			if i == o.Index {
				t.pending = append(t.pending[:k], t.pending[k+1:]...)
				break
			}
		}
	}
	t.seen[o.Index] = true
	t.told[o.Index] = o
	t.history = append(t.history, o)
	if o.Valid {
		at := sort.Search(len(t.ranked), func(k int) bool { return t.ranked[k].Objective > o.Objective })
		t.ranked = slices.Insert(t.ranked, at, o)
	}
	return true
}

// Better reports whether a is a better answer than b: valid before failed, then
// the lower objective.
func Better(a, b search.Observation) bool {
	if a.Valid != b.Valid {
		return a.Valid
	}
	return a.Valid && a.Objective < b.Objective
}
