package sampling

import (
	"cmp"
	"math"
	"slices"
)

// point is a CTA whose length is known.
type point struct {
	k int // it is CTA(k, grid)
	Length
}

// mean is the mean length.
func mean(of []point) (m Length) {
	for _, p := range of {
		m.Instructions += p.Instructions / float64(len(of))
		m.Requests += p.Requests / float64(len(of))
	}
	return m
}

// stratify chooses n of the points so that they are in the mean about as long as all. It is stratified sampling (W.
// Cochran, Sampling Techniques, 1977, ch. 5): the points are sorted by length and cut into n strata of equal size,
// and one of each is chosen. In each, from the shortest stratum on, that is the one closest to the stratum's mean
// plus what those chosen before fell short of theirs. The function measure returns the exact length of one that was
// chosen, which may differ from that of the point.
//
// It returns the numbers k of those chosen, ascending.
func stratify(points []point, n int, measure func(k int) (float64, error)) ([]int, error) {
	order := slices.Clone(points)
	slices.SortStableFunc(order, func(a, b point) int { return cmp.Compare(a.Scalar(), b.Scalar()) })
	chosen, owed := make([]int, n), 0.0
	for i := range chosen {
		stratum := order[i*len(points)/n : (i+1)*len(points)/n]
		owed += mean(stratum).Scalar()
		chosen[i] = slices.MinFunc(stratum, func(a, b point) int {
			return cmp.Compare(math.Abs(a.Scalar()-owed), math.Abs(b.Scalar()-owed))
		}).k
		is, err := measure(chosen[i])
		if err != nil {
			return nil, err
		}
		owed -= is
	}
	slices.Sort(chosen)
	return chosen, nil
}
