package search

import "math"

// Quantile maps the unit cube onto the space. Going down the parameters in order, each takes the value at quantile
// u[p] of the configurations that the values before leave. So points uniform in the cube are uniform over the valid
// configurations, and points near one another mostly stay so (the inverse of Rosenblatt's transformation, "Remarks
// on a Multivariate Transformation", Ann. Math. Stat. 23, 1952). Coordinates outside [0, 1) are clamped. It panics
// on an empty space.
func (s *Space) Quantile(u []float64) int64 {
	c := s.start()
	var i int64
	for p, k := range s.component {
		d := s.components[k]
		n := d.count[c.node[k]]
		at := int64(min(max(u[p], 0), 1) * float64(n))
		i += c.take(k, d, d.at(c.node[k], min(at, n-1)))
	}
	return i
}

// Nearest repairs a point: going down the parameters in order, each takes, of
// the values that some valid configuration continues, the one whose index is
// nearest to target[p], the lower of two. It is the nearest configuration if
// only one parameter is off, else a near one. It panics on an empty space.
func (s *Space) Nearest(target []float64) int64 {
	c := s.start()
	var i int64
	for p, k := range s.component {
		d := s.components[k]
		es := d.of(c.node[k])
		best := es[0]
		for _, e := range es[1:] {
			if math.Abs(float64(e.digit)-target[p]) < math.Abs(float64(best.digit)-target[p]) {
				best = e
			}
		}
		i += c.take(k, d, best)
	}
	return i
}
