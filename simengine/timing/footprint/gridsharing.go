package footprint

// Axes is a set of the axes of a grid, bit 0 for x.
type Axes uint8

// NumAxes is how many sets there are.
const NumAxes = 8

// Has reports whether an axis is in the set.
func (a Axes) Has(axis int) bool { return a>>axis&1 != 0 }

// sharedBelow is how many times what one CTA touches several may touch together and still be
// said to touch the same.
const sharedBelow = 1.5

// along is the axes along which CTAs together touch more than one of them does, where these are
// some of the grid's only. Nothing is known of what CTAs share that were drawn from the whole
// grid.
func (s *Survey) along(g *group, d Device) Axes {
	if g.broadcast || g.random || s.ctas[Spread] > 0 {
		return 0
	}
	var a, all Axes
	for k, n := range d.Grid {
		if n == 1 {
			continue
		}
		all |= 1 << k
		if 1+float64(n-1)*s.newShare(g, X+Direction(k), 0, d) >= sharedBelow {
			a |= 1 << k
		}
	}
	if a == all {
		return 0
	}
	return a
}
