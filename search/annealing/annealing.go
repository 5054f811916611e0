// Package annealing is simulated annealing (Kirkpatrick, Gelatt and Vecchi,
// "Optimization by Simulated Annealing", Science 220, 1983): a move to a
// neighbour that is worse by the ratio r is accepted with probability
// exp(-ln(r)/T), and T falls with every answer. When it is cold the search
// starts hot again from the best configuration. Moves step to an adjacent value
// more often than across the range; failures are never moved to.
package annealing

import (
	"math"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/search/trail"
)

const (
	starts = 10   // configurations drawn at random; the best is the start
	hot    = 0.3  // a third of the moves to something 1.4 times as slow
	cold   = 0.01 // a third of the moves to something 1 % slower
	cool   = 0.97 // of the temperature is left after an answer
)

// New returns the strategy for a space.
func New(space *search.Space, seed uint64) search.Strategy {
	return trail.Run(space, seed, func(t *trail.Trail) trail.Member { return On(t) })
}

// Walk is the member that anneals.
type Walk struct {
	t           *trail.Trail
	at          search.Observation
	moves       map[int64]bool // asked from at or a place before
	temperature float64
	point       []float64 // scratch
}

// On returns the member on a trail.
func On(t *trail.Trail) *Walk {
	return &Walk{t: t, moves: map[int64]bool{}, temperature: hot}
}

// Propose implements trail.Member.
func (w *Walk) Propose() (int64, bool) {
	if len(w.t.History())+len(w.t.Pending()) < starts {
		return w.t.Random()
	}
	best, ok := w.t.Best()
	if !ok {
		return w.t.Random()
	}
	if !w.at.Valid {
		w.at = best
	}
	const tries = 100 // moves to places known cost nothing, and happen
	for range tries {
		i := w.move()
		if !w.t.Seen(i) {
			w.moves[i] = true
			return i, true
		}
		if o, told := w.t.Told(i); told {
			w.consider(o)
		}
	}
	return w.t.Near(best.Index)
}

// move changes one parameter, or two.
func (w *Walk) move() int64 {
	w.point = w.t.Digits(w.at.Index, w.point[:0])
	for n := 1 + w.t.Rand.IntN(2); n > 0; n-- {
		p := w.t.Rand.IntN(len(w.point))
		values := len(w.t.Space.Params()[p].Values)
		if w.t.Rand.IntN(3) == 0 {
			w.point[p] = float64(w.t.Rand.IntN(values))
		} else {
			w.point[p] += float64(2*w.t.Rand.IntN(2) - 1)
		}
	}
	return w.t.Space.Nearest(w.point)
}

// consider moves to o, or not.
func (w *Walk) consider(o search.Observation) {
	if !o.Valid {
		return
	}
	worse := (o.Objective - w.at.Objective) / math.Max(math.Abs(w.at.Objective), 1e-300)
	if worse <= 0 || w.t.Rand.Float64() < math.Exp(-math.Log1p(worse)/w.temperature) {
		w.at = o
	}
}

// Observe implements trail.Member.
func (w *Walk) Observe(o search.Observation) {
	if !w.moves[o.Index] {
		return
	}
	delete(w.moves, o.Index)
	w.consider(o)
	if w.temperature *= cool; w.temperature < cold {
		w.temperature = hot
		w.at, _ = w.t.Best()
	}
}
