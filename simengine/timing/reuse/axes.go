package reuse

// Axes is a set of the axes of a grid, bit 0 for x.
type Axes uint8

// NumAxes is how many sets there are.
const NumAxes = 8

// Has says that an axis is in the set.
func (a Axes) Has(axis int) bool { return a>>axis&1 != 0 }

// Of are the axes along which a grid has CTAs.
func Of(grid [3]int) (a Axes) {
	for k, n := range grid {
		if n > 1 {
			a |= 1 << k
		}
	}
	return a
}

// same is how many times what one CTA touches several may touch together and still be
// said to touch the same.
const same = 1.5

// along is the axes along which CTAs together touch more than one of them.
func (s *Survey) along(g *group, d Device) (a Axes) {
	for k, n := range d.Grid {
		if n > 1 && 1+float64(n-1)*s.newShare(g, X+Direction(k), 0, d) >= same {
			a |= 1 << k
		}
	}
	return a
}
