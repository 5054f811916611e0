package alu

import "math"

// addOdd is a+b rounded to odd: exact when representable, else the neighbour with an odd last bit. A later rounding
// to a format of at most 51 bits is then a single one (Boldo and Melquiond, IEEE TC 57(4), 2008).
func addOdd(a, b float64) float64 {
	s := a + b
	if math.IsInf(s, 0) || s != s {
		return s
	}
	bb := s - a
	err := (a - (s - bb)) + (b - bb)
	return toOdd(s, err)
}

// toOdd turns s, the nearest to s+err, into s+err rounded to odd.
func toOdd(s, err float64) float64 {
	if err == 0 || err != err || math.IsInf(s, 0) || s != s {
		return s
	}
	bits := math.Float64bits(s)
	if bits&1 == 1 {
		return s
	}
	if (err > 0) == (s > 0) || s == 0 {
		return math.Float64frombits(bits + 1)
	}
	return math.Float64frombits(bits - 1)
}

// fmaOdd is a*b+c rounded to odd for a and b of at most 26 bits each, whose
// product is exact.
func fmaOdd(a, b, c float64) float64 { return addOdd(float64(a*b), c) }
