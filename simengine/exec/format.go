package exec

import (
	"math"

	"github.com/warptune/warptune/simengine/ir"
)

// format is a binary floating-point format narrower than float64.
type format struct {
	man    int    // mantissa bits without the hidden one
	emin   int    // exponent of the smallest normal number
	finite uint32 // bits of the largest finite number
	inf    uint32 // bits of infinity; of NaN in formats without infinities
	nan    uint32 // canonical NaN
	sign   uint32 // sign bit
}

var (
	singleFormat = format{man: 23, emin: -126, finite: 0x7f7fffff, inf: 0x7f800000, nan: 0x7fffffff, sign: 1 << 31}
	halfFormat   = format{man: 10, emin: -14, finite: 0x7bff, inf: 0x7c00, nan: 0x7fff, sign: 1 << 15}
	bfloatFormat = format{man: 7, emin: -126, finite: 0x7f7f, inf: 0x7f80, nan: 0x7fff, sign: 1 << 15}
	tf32Format   = format{man: 10, emin: -126, finite: 0x3fbff, inf: 0x3fc00, nan: 0x3ffff, sign: 1 << 18}
	e4m3Format   = format{man: 3, emin: -6, finite: 0x7e, inf: 0x7f, nan: 0x7f, sign: 1 << 7}
	e5m2Format   = format{man: 2, emin: -14, finite: 0x7b, inf: 0x7c, nan: 0x7f, sign: 1 << 7}
)

// pack rounds v to the format. With satfinite an overflow or infinity gives
// the largest finite number. A v that is itself the result of rounding must
// have been rounded to odd (see addOdd) for the sum of both to be one rounding.
func (f *format) pack(v float64, mode ir.Round, satfinite bool) uint32 {
	if v != v {
		return f.nan
	}
	var sign uint32
	if math.Signbit(v) {
		sign, v = f.sign, -v
	}
	if v == 0 {
		return sign
	}
	if math.IsInf(v, 1) {
		if satfinite {
			return sign | f.finite
		}
		return sign | f.inf
	}
	// As integers: m * 2^(exp-52), of which the lowest shift bits do not fit. No format reaches down to
	// the subnormals of float64, which lose all bits.
	word := math.Float64bits(v)
	exp := int(word>>52) - 1023
	m := word&(1<<52-1) | 1<<52
	e := max(exp, f.emin)
	shift := min(52-f.man+e-exp, 63)
	q, rest, half := m>>shift, m&(1<<shift-1), uint64(1)<<(shift-1)
	if up := rest > half || rest == half && q&1 == 1; mode == ir.RN && up || mode != ir.RN && roundsUp(share(rest, half), q&1 == 1, sign != 0, mode) {
		q++
	}
	// Carries into the exponent come out right: (e-emin) counts from the
	// subnormals, whose hidden bit is missing from q.
	bits := uint64(e-f.emin)<<f.man + q
	if bits > uint64(f.finite) {
		if satfinite || mode == ir.RZ || (mode == ir.RM && sign == 0) || (mode == ir.RP && sign != 0) {
			return sign | f.finite
		}
		return sign | f.inf
	}
	return sign | uint32(bits)
}

// share is a remainder for roundsUp, as which it stands: none, less than half, half, or more.
func share(rest, half uint64) float64 {
	switch {
	case rest == 0:
		return 0
	case rest < half:
		return 0.25
	case rest == half:
		return 0.5
	}
	return 0.75
}

// roundsUp decides whether a magnitude with remainder rem in [0,1) above an
// integer goes to the next integer.
func roundsUp(rem float64, odd, negative bool, mode ir.Round) bool {
	switch mode {
	case ir.RZ, ir.RZI:
		return false
	case ir.RM, ir.RMI:
		return negative && rem > 0
	case ir.RP, ir.RPI:
		return !negative && rem > 0
	case ir.RNA:
		return rem >= 0.5
	}
	return rem > 0.5 || (rem == 0.5 && odd)
}

// unpack is the value of bits, exactly.
func (f *format) unpack(bits uint32) float64 {
	mag := bits & (f.sign - 1)
	v := 0.0
	switch {
	case mag > f.inf || (mag == f.nan && f.inf == f.nan):
		return math.NaN()
	case mag == f.inf:
		v = math.Inf(1)
	case mag>>f.man == 0:
		v = float64(mag) * power(f.emin-f.man)
	default:
		v = float64(mag&(1<<f.man-1)|1<<f.man) * power(int(mag>>f.man)-1+f.emin-f.man)
	}
	if bits&f.sign != 0 {
		return -v
	}
	return v
}

// power is 2 to the e, of the exponents that the formats have.
func power(e int) float64 { return math.Float64frombits(uint64(e+1023) << 52) }

// addOdd is a+b rounded to odd: exact when representable, else the neighbour
// with an odd last bit, so that a later rounding to a format of at most 51
// bits is a single one (Boldo and Melquiond, IEEE TC 57(4), 2008).
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
