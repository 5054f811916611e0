package replay

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/search/correction"
)

// How configurations are measured that were predicted first: the fastest, then some more at a time,
// in the order that what was measured until then gives them.
const (
	measuredFirst = 6
	measuredNext  = 2
)

// Predicts reports whether the record has predictions.
func (r *Record) Predicts() bool {
	return slices.ContainsFunc(r.Predicted, func(t float64) bool { return t > 0 })
}

// Prior returns the predictions.
func (r *Record) Prior() search.Prior {
	p := search.Prior{}
	for i, t := range r.Predicted {
		if t > 0 {
			p[int64(i)] = t
		}
	}
	return p
}

// Permuted returns predictions that foretell nothing: the record's, of other configurations.
func (r *Record) Permuted(seed uint64) search.Prior {
	p := search.Prior{}
	order := rand.New(rand.NewPCG(seed, 0)).Perm(len(r.Predicted))
	for i, t := range r.Predicted {
		if t > 0 {
			p[int64(order[i])] = t
		}
	}
	return p
}

// SimulationFirst measures the configurations that are predicted fastest. With corrected the order
// of those to come is corrected by what was measured.
func SimulationFirst(r *Record, budget int, corrected bool) Curve {
	var left []int64
	for i, t := range r.Predicted {
		if t > 0 {
			left = append(left, int64(i))
		}
	}
	factor := func(int64) float64 { return 1 }
	order := func() {
		slices.SortStableFunc(left, func(a, b int64) int {
			return cmp.Or(cmp.Compare(r.Predicted[a]*factor(a), r.Predicted[b]*factor(b)), cmp.Compare(a, b))
		})
	}
	order()
	var known []correction.Measured
	var curve Curve
	for len(curve) < budget && len(left) > 0 {
		n := measuredNext
		if len(curve) == 0 {
			n = measuredFirst
		}
		for _, i := range left[:min(n, budget-len(curve), len(left))] {
			t := r.Time[i]
			if curve = append(curve, min(t, curve.at(len(curve)))); r.Observation(i).Valid {
				known = append(known, correction.Measured{Index: i, Bound: r.Bound[i], Predicted: r.Predicted[i], Timed: t})
			}
		}
		left = left[min(n, len(left)):]
		if corrected {
			c := correction.Fit(r.Space, known)
			factors := map[int64]float64{}
			for _, i := range left {
				factors[i] = c.Factor(i, r.Bound[i])
			}
			factor = func(i int64) float64 { return factors[i] }
			order()
		}
	}
	return curve
}

// Over is by how much the best after n evaluations is slower than the optimum, as a ratio.
func (c Curve) Over(r *Record, n int) float64 { return c.at(n) / r.Optimum() }
