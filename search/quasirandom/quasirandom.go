// Package quasirandom spreads questions evenly over the valid configurations:
// a Kronecker sequence with the powers of the generalised golden ratio
// (M. Roberts, "The unreasonable effectiveness of quasirandom sequences", 2018;
// discrepancy after Niederreiter, "Random Number Generation and Quasi-Monte
// Carlo Methods", SIAM 1992, ch. 3), shifted by the seed (Cranley and
// Patterson, SIAM J. Numer. Anal. 13, 1976), through the space's quantiles. It
// learns nothing from answers.
package quasirandom

import (
	"math"
	"slices"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/search/trail"
)

// New returns the strategy for a space.
func New(space *search.Space, seed uint64) search.Strategy {
	return trail.Run(space, seed, func(t *trail.Trail) trail.Member { return On(t) })
}

// Sequence proposes configurations at the points of the sequence.
type Sequence struct {
	t     *trail.Trail
	free  []int     // parameters with more than one value that occurs
	step  []float64 // by free parameter
	at    []float64 // by free parameter
	point []float64 // by parameter
	asked int       // points so far
	plain []int     // switches, if some of the first points are plain
}

// On returns the member on a trail.
func On(t *trail.Trail) *Sequence {
	s := &Sequence{t: t, point: make([]float64, len(t.Space.Params()))}
	for p := range t.Space.Params() {
		if t.Space.Occurring(p) > 1 {
			s.free = append(s.free, p)
		}
	}
	g := golden(len(s.free))
	for k := range s.free {
		s.step = append(s.step, math.Pow(g, -float64(k+1)))
		s.at = append(s.at, t.Rand.Float64())
	}
	return s
}

// plainly is how many points from the first to the last that is plain, every
// other one of them.
const plainly = 5

// Plain returns a member whose first, third and fifth questions have every switch
// at the first of its values. A switch is a parameter of three values or more one
// of which is no positive number, and authors list first what does without. The
// sizes, which interact more, are so seen early with nothing else changing
// between them. Where there are only two values half of the points have the first
// as it is. Amounts from none up, such as a padding, are no switches: what matters
// of them is which, and none is a kernel without what it was written for.
func Plain(t *trail.Trail) *Sequence {
	s := On(t)
	for _, p := range s.free {
		if isSwitch(t.Space.Params()[p].Values) {
			s.plain = append(s.plain, p)
		}
	}
	return s
}

func isSwitch(values []search.Value) bool {
	return len(values) > 2 && !amounts(values) && slices.ContainsFunc(values, func(v search.Value) bool {
		switch v.Kind {
		case search.Int:
			return v.I <= 0
		case search.Float:
			return v.F <= 0
		}
		return true
	})
}

// amounts reports whether values are 0, 1 and more that leave some out: those
// that leave none out are codes, and those that jump from 0 to many bounds.
func amounts(values []search.Value) bool {
	return values[0] == search.OfInt(0) && values[1] == search.OfInt(1) &&
		slices.ContainsFunc(values, func(v search.Value) bool { return v.I >= int64(len(values)) })
}

// golden returns the positive root of x^(d+1) = x + 1.
func golden(d int) float64 {
	x := 1.5
	for range 64 {
		x = math.Pow(1+x, 1/float64(d+1))
	}
	return x
}

// tries bounds the points passed over because their configurations were seen:
// near exhaustion the rest is asked for at random.
const tries = 64

// Propose implements trail.Member.
func (s *Sequence) Propose() (int64, bool) {
	for range tries {
		for k, p := range s.free {
			_, s.at[k] = math.Modf(s.at[k] + s.step[k])
			s.point[p] = s.at[k]
		}
		if s.asked < plainly && s.asked%2 == 0 {
			for _, p := range s.plain {
				s.point[p] = 0
			}
		}
		s.asked++
		if i := s.t.Space.Quantile(s.point); !s.t.Seen(i) {
			return i, true
		}
	}
	return 0, false
}

// Observe implements trail.Member.
func (s *Sequence) Observe(search.Observation) {}
