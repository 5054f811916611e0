package makespan

import (
	"math"
	"math/rand/v2"
)

// Known is the length of one CTA of a grid, in any unit.
type Known struct {
	CTA    int64 // linear index, x fastest
	Length float64
}

// fewest is how many known lengths say something of the others.
const fewest = 8

// lengths are those of all CTAs of a grid, relative to the mean of the known.
type lengths struct {
	grid    [3]int
	places  [][3]float64 // of the known, as shares of the axes
	known   []float64
	byPlace bool // neighbours are alike
}

func newLengths(grid [3]int, known []Known) *lengths {
	l := &lengths{grid: grid}
	sum := 0.0
	for _, k := range known {
		sum += k.Length
	}
	for _, k := range known {
		l.places = append(l.places, l.place(k.CTA))
		l.known = append(l.known, k.Length*float64(len(known))/sum)
	}
	l.byPlace = l.neighboursAlike()
	return l
}

// place is where a CTA lies in the grid.
func (l *lengths) place(cta int64) (p [3]float64) {
	for axis, n := range l.grid {
		p[axis] = (float64(cta%int64(n)) + 0.5) / float64(n)
		cta /= int64(n)
	}
	return p
}

// nearest is the one of the known that is nearest to a place, but for one of them.
func (l *lengths) nearest(at [3]float64, but int) int {
	least, found := math.Inf(1), -1
	for i := range l.places {
		p := &l.places[i]
		x, y, z := at[0]-p[0], at[1]-p[1], at[2]-p[2]
		if d := x*x + y*y + z*z; d < least && i != but {
			least, found = d, i
		}
	}
	return found
}

// neighboursAlike reports whether the known differ from their neighbours by less than half of what
// they differ from all.
func (l *lengths) neighboursAlike() bool {
	beside, all := 0.0, 0.0
	for i, a := range l.known {
		beside += math.Abs(a - l.known[l.nearest(l.places[i], i)])
		for _, b := range l.known {
			all += math.Abs(a-b) / float64(len(l.known)-1)
		}
	}
	return beside < all/2
}

// of is the lengths of n CTAs from one on: that of the known one that is nearest to each, or
// where lengths do not go by the place, of one drawn from all.
func (l *lengths) of(first, n int64) []float64 {
	out := make([]float64, n)
	draw := rand.New(rand.NewPCG(uint64(n), uint64(len(l.known))))
	for i := range out {
		if l.byPlace {
			out[i] = l.known[l.nearest(l.place(first+int64(i)), -1)]
		} else {
			out[i] = l.known[draw.IntN(len(l.known))]
		}
	}
	return out
}
