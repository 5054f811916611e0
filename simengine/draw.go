package simengine

import "math"

// mostDrawn is the length of the sequence of drawCTA.
const mostDrawn = 128

// sobol are the direction numbers of the first three dimensions of I. M. Sobol's
// sequence (On the distribution of points in a cube, 1967), to mostDrawn points,
// turned what turns it so that the first points are not at the grid's edges, and
// golden how far from one point to the next each is in its part of the axis: the powers
// of 1/x with x^4 = x + 1 (M. Roberts, "The unreasonable effectiveness of quasirandom
// sequences", 2018).
var (
	sobol  = [3][7]int{{64, 32, 16, 8, 4, 2, 1}, {64, 96, 80, 120, 68, 102, 85}, {64, 32, 112, 88, 52, 122, 67}}
	turned = [3]int{54, 46, 26}
	golden = [3]float64{0.8191725134, 0.6710436067, 0.5497004779}
)

// drawCTA is the k-th of a sequence of mostDrawn CTAs that covers a grid evenly
// however long it is: of the first 8, 16, 32 and so on as many lie in each 8th, 16th and
// 32nd of each axis, so that rows at an edge come in as often as they are. Where in its
// part of the axis each lies is always another place, so that CTAs whose work goes by the
// last digits of their index come in as often as they are, too. Grids of other shapes over
// the same data are looked at in the same places, so that what chance does to one it does
// to all.
func drawCTA(k int, grid [3]int) int64 {
	id, step := int64(0), int64(1)
	for axis, n := range grid {
		at := turned[axis]
		for bit, v := range sobol[axis] {
			if k>>bit&1 != 0 {
				at ^= v
			}
		}
		_, in := math.Modf(float64(k+1) * golden[axis])
		id += int64((float64(at)+in)*float64(n)/mostDrawn) * step
		step *= int64(n)
	}
	return id
}
