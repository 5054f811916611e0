package sampling

import "math"

// Points is the length of the sequence of CTA.
const Points = 128

// The sequence is Sobol's in three dimensions (I. M. Sobol, On the distribution of points in a
// cube, 1967). shift is added, bit by bit, so that its first points are not at the edges of the
// grid. A point of Sobol's sequence is one of Points equal parts of an axis; where in its part it
// lies is another low-discrepancy sequence (M. Roberts, The unreasonable effectiveness of
// quasirandom sequences, 2018), with the powers of 1/x for steps, x^4 = x + 1.
var (
	directions = [3][7]int{{64, 32, 16, 8, 4, 2, 1}, {64, 96, 80, 120, 68, 102, 85}, {64, 32, 112, 88, 52, 122, 67}}
	shift      = [3]int{54, 46, 26}
	steps      = [3]float64{0.8191725134, 0.6710436067, 0.5497004779}
)

// CTA is the k-th of a sequence of Points CTAs that covers a grid evenly wherever it is cut off. Each eighth of
// each axis has as many of the first 8, each sixteenth as many of the first 16, and so on. Rows at an edge of the
// grid are drawn as often as they occur. So are CTAs whose work depends on the low bits of their index, because no
// two points lie at the same place in their parts. Grids of other shapes over the same data are looked at in the
// same places, so that configurations share the error of the sample.
func CTA(k int, grid [3]int) int64 {
	id, stride := int64(0), int64(1)
	for axis, n := range grid {
		part := shift[axis]
		for bit, v := range directions[axis] {
			if k>>bit&1 != 0 {
				part ^= v
			}
		}
		_, within := math.Modf(float64(k+1) * steps[axis])
		id += int64((float64(part)+within)*float64(n)/Points) * stride
		stride *= int64(n)
	}
	return id
}
