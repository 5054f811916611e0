// Package element is the bits of numbers in memory: the formats of floating-point numbers up to 32 bits, and the
// elements of buffers by their type.
package element

import (
	"math"

	"github.com/warptune/warptune/simengine/ir"
)

// Format is a binary floating-point format narrower than float64.
type Format struct {
	MantissaBits int    // mantissa bits without the hidden one
	emin         int    // exponent of the smallest normal number
	finite       uint32 // bits of the largest finite number
	inf          uint32 // bits of infinity; of NaN in formats without infinities
	NaN          uint32 // canonical NaN
	SignBit      uint32 // sign bit
}

// The formats of PTX (IEEE 754; P. Micikevicius et al., FP8 formats for deep learning, 2022).
var (
	Single = Format{MantissaBits: 23, emin: -126, finite: 0x7f7fffff, inf: 0x7f800000, NaN: 0x7fffffff, SignBit: 1 << 31}
	Half   = Format{MantissaBits: 10, emin: -14, finite: 0x7bff, inf: 0x7c00, NaN: 0x7fff, SignBit: 1 << 15}
	Bfloat = Format{MantissaBits: 7, emin: -126, finite: 0x7f7f, inf: 0x7f80, NaN: 0x7fff, SignBit: 1 << 15}
	TF32   = Format{MantissaBits: 10, emin: -126, finite: 0x3fbff, inf: 0x3fc00, NaN: 0x3ffff, SignBit: 1 << 18}
	E4M3   = Format{MantissaBits: 3, emin: -6, finite: 0x7e, inf: 0x7f, NaN: 0x7f, SignBit: 1 << 7}
	E5M2   = Format{MantissaBits: 2, emin: -14, finite: 0x7b, inf: 0x7c, NaN: 0x7f, SignBit: 1 << 7}
)

// Pack rounds v to the format. With satfinite an overflow or infinity gives
// the largest finite number. A v that is itself the result of rounding must
// have been rounded to odd (see addOdd) for the sum of both to be one rounding.
func (f *Format) Pack(v float64, mode ir.Round, satfinite bool) uint32 {
	if mode == ir.RN {
		if bits, ok := f.nearest(v); ok {
			return bits
		}
	}
	return f.pack(v, mode, satfinite)
}

// nearest rounds v to nearest, if it is in the range of the normal numbers and stays finite.
func (f *Format) nearest(v float64) (bits uint32, ok bool) {
	word := math.Float64bits(v)
	magnitude := word &^ (1 << 63)
	exp := int(magnitude>>52) - 1023
	if exp < f.emin || exp > 127 {
		return 0, false
	}
	shift := uint(52 - f.MantissaBits)
	rounded := (magnitude + 1<<(shift-1) - 1 + magnitude>>shift&1) >> shift
	rounded -= uint64(1022+f.emin) << f.MantissaBits // the exponent of the format
	if rounded > uint64(f.finite) {
		return 0, false
	}
	bits = uint32(rounded)
	if word != magnitude {
		bits |= f.SignBit
	}
	return bits, true
}

// pack is Pack of any number.
func (f *Format) pack(v float64, mode ir.Round, satfinite bool) uint32 {
	if v != v {
		return f.NaN
	}
	var sign uint32
	if math.Signbit(v) {
		sign, v = f.SignBit, -v
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
	shift := min(52-f.MantissaBits+e-exp, 63)
	q, rest, half := m>>shift, m&(1<<shift-1), uint64(1)<<(shift-1)
	if up := rest > half || rest == half && q&1 == 1; mode == ir.RN && up || mode != ir.RN && roundsUp(share(rest, half), q&1 == 1, sign != 0, mode) {
		q++
	}
	// Carries into the exponent come out right: (e-emin) counts from the
	// subnormals, whose hidden bit is missing from q.
	bits := uint64(e-f.emin)<<f.MantissaBits + q
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

// Unpack is the value of bits, exactly.
func (f *Format) Unpack(bits uint32) float64 {
	mag := bits & (f.SignBit - 1)
	v := 0.0
	switch {
	case mag > f.inf || (mag == f.NaN && f.inf == f.NaN):
		return math.NaN()
	case mag == f.inf:
		v = math.Inf(1)
	case mag>>f.MantissaBits == 0:
		v = float64(mag) * power(f.emin-f.MantissaBits)
	default:
		v = float64(mag&(1<<f.MantissaBits-1)|1<<f.MantissaBits) * power(int(mag>>f.MantissaBits)-1+f.emin-f.MantissaBits)
	}
	if bits&f.SignBit != 0 {
		return -v
	}
	return v
}

// power is 2 to the e, of the exponents that the formats have.
func power(e int) float64 { return math.Float64frombits(uint64(e+1023) << 52) }

// Flush turns a subnormal into a zero of its sign.
func (f *Format) Flush(bits uint32) uint32 {
	if bits&(f.SignBit-1)>>f.MantissaBits == 0 {
		return bits & f.SignBit
	}
	return bits
}
