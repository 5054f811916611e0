package call

import "math"

// smallFormat is a floating point format of at most 16 bits: a sign, exponent bits, and
// mantissa bits.
type smallFormat struct {
	exponent, mantissa int
	finite             bool // no infinity: the exponent of all ones holds numbers, but for NaN in the last
}

// smallFormats are the formats of cuda_bf16.h and cuda_fp8.h (OCP 8-bit floating point,
// revision 1.0).
var smallFormats = map[Type]smallFormat{
	Bfloat16:   {8, 7, false},
	Float8E4M3: {4, 3, true},
	Float8E5M2: {5, 2, false},
}

func (s smallFormat) bias() int { return 1<<(s.exponent-1) - 1 }

// encode rounds to the nearest number, ties to even. What is too large is the largest
// number of 8-bit formats, as conversions in CUDA saturate, and infinity of others.
func (s smallFormat) encode(f float64) uint64 {
	sign := uint64(0)
	if math.Signbit(f) {
		sign, f = 1<<(s.exponent+s.mantissa), -f
	}
	infinite := uint64(1<<s.exponent-1) << s.mantissa
	largest := infinite - 1
	if s.finite {
		largest = infinite | uint64(1<<s.mantissa-2)
	}
	switch {
	case math.IsNaN(f):
		return sign | infinite | uint64(1<<s.mantissa-1)
	case f == 0:
		return sign
	}
	_, exp := math.Frexp(f) // f = x 2^exp, x in [0.5, 1)
	step := max(exp-1, 1-s.bias()) - s.mantissa
	units := math.RoundToEven(math.Ldexp(f, -step)) // of the last place
	bits := uint64(math.MaxUint32)
	if units < 1<<20 {
		bits = uint64(step+s.mantissa+s.bias()-1)<<s.mantissa + uint64(units)
	}
	switch {
	case bits <= largest:
	case s.exponent+s.mantissa < 8:
		bits = largest
	default:
		bits = infinite
	}
	return sign | bits
}

// decode is the value of a number of the format.
func (s smallFormat) decode(bits uint64) float64 {
	exp, man := int(bits>>s.mantissa)&(1<<s.exponent-1), int(bits)&(1<<s.mantissa-1)
	last := exp == 1<<s.exponent-1
	var v float64
	switch {
	case last && (!s.finite && man != 0 || s.finite && man == 1<<s.mantissa-1):
		v = math.NaN()
	case last && !s.finite:
		v = math.Inf(1)
	case exp == 0:
		v = math.Ldexp(float64(man), 1-s.bias()-s.mantissa)
	default:
		v = math.Ldexp(float64(man+1<<s.mantissa), exp-s.bias()-s.mantissa)
	}
	if bits>>(s.exponent+s.mantissa)&1 != 0 {
		v = -v
	}
	return v
}
