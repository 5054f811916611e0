package replay

import (
	"math"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/search/stopping"
)

// Make builds the strategy under test.
type Make func(space *search.Space, seed uint64) (search.Strategy, error)

// Curve is the best time found after each evaluation, +Inf while none was
// valid.
type Curve []float64

// Run lets a strategy ask at most budget questions. Each answer is told when
// delay more questions are out, as with delay+1 workers of equal speed, or when
// the strategy waits for it. The curve counts answers in the order of the
// questions, and ends early when the space is exhausted or the strategy stops. A
// run that has found the optimum is not carried on, and its curve stays there,
// unless the question is when the strategy stops.
func Run(r *Record, s search.Strategy, budget, delay int) Curve {
	curve := make(Curve, 0, budget)
	best := math.Inf(1)
	var out []int64
	answer := func() {
		best = min(best, r.Time[out[0]])
		curve = append(curve, best)
		s.Tell(r.Observation(out[0]))
		out = out[1:]
	}
	optimum := r.Optimum()
	if _, ok := s.(*stopping.Strategy); ok {
		optimum = math.Inf(-1)
	}
	for asked := 0; asked < budget; asked++ {
		if best <= optimum { // nothing better can come: the rest is not run
			for len(curve) < min(budget, len(r.Time)) {
				curve = append(curve, best)
			}
			return curve
		}
		next := s.Ask(1)
		for ; len(next) == 0 && len(out) > 0; next = s.Ask(1) { // it waits
			answer()
		}
		if len(next) == 0 {
			break
		}
		if out = append(out, next[0]); len(out) > delay {
			answer()
		}
	}
	for len(out) > 0 {
		answer()
	}
	return curve
}

// at returns the best after n evaluations.
func (c Curve) at(n int) float64 {
	if n = min(n, len(c)); n == 0 {
		return math.Inf(1)
	}
	return c[n-1]
}

// to returns the number of evaluations until the best was at most bound; false:
// it never was.
func (c Curve) to(bound float64) (int, bool) {
	for k, t := range c {
		if t <= bound {
			return k + 1, true
		}
	}
	return len(c), false
}
