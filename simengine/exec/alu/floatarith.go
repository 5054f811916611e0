package alu

import (
	"github.com/warptune/warptune/simengine/arch"
	"math"
	"math/big"

	"github.com/warptune/warptune/simengine/ir"
)

var addFloat = arithmetic{
	fast: func(d, a, b, _, _ *Vec32) {
		for i := range d {
			d[i] = bits32(F32(a[i]) + F32(b[i]))
		}
	},
	double: func(d, a, b, _, _ *Vec64) {
		for i := range d {
			d[i] = bits64(math.Float64frombits(a[i]) + math.Float64frombits(b[i]))
		}
	},
	odd:     func(a, b, _ float64) float64 { return addOdd(a, b) },
	exact64: func(a, b, _ float64) (float64, int) { return exactFMA(a, 1, b) },
	sources: 2,
}

var subFloat = arithmetic{
	fast: func(d, a, b, _, _ *Vec32) {
		for i := range d {
			d[i] = bits32(F32(a[i]) - F32(b[i]))
		}
	},
	double: func(d, a, b, _, _ *Vec64) {
		for i := range d {
			d[i] = bits64(math.Float64frombits(a[i]) - math.Float64frombits(b[i]))
		}
	},
	odd:     func(a, b, _ float64) float64 { return addOdd(a, -b) },
	exact64: func(a, b, _ float64) (float64, int) { return exactFMA(a, 1, -b) },
	sources: 2,
}

var mulFloat = arithmetic{
	fast: func(d, a, b, _, _ *Vec32) {
		for i := range d {
			d[i] = bits32(F32(a[i]) * F32(b[i]))
		}
	},
	double: func(d, a, b, _, _ *Vec64) {
		for i := range d {
			d[i] = bits64(math.Float64frombits(a[i]) * math.Float64frombits(b[i]))
		}
	},
	odd:     func(a, b, _ float64) float64 { return a * b },
	exact64: func(a, b, _ float64) (float64, int) { return exactFMA(a, b, math.Copysign(0, a*b)) },
	sources: 2,
}

// fmaFloat rounds once. In single precision the product is exact in float64, and the sum there errs by under half a
// place of float64. That changes the rounding to float32 only if the sum lies exactly between two float32 (its low
// 29 bits are 1 and zeros) or below their normal range (exponent under 897).
var fmaFloat = arithmetic{
	fast: func(d, a, b, c, _ *Vec32) {
		for i := range d {
			p := float64(F32(a[i])) * float64(F32(b[i]))
			s := p + float64(F32(c[i]))
			if bits := math.Float64bits(s); bits&(1<<29-1) == 1<<28 || bits<<1 < 897<<53 {
				s = addOdd(p, float64(F32(c[i])))
			}
			d[i] = bits32(float32(s))
		}
	},
	double: func(d, a, b, c, _ *Vec64) {
		for i := range d {
			d[i] = bits64(math.FMA(math.Float64frombits(a[i]), math.Float64frombits(b[i]), math.Float64frombits(c[i])))
		}
	},
	odd:     fmaOdd,
	exact64: exactFMA,
	sources: 3,
}

var divFloat = arithmetic{
	fast: func(d, a, b, _, _ *Vec32) {
		for i := range d {
			d[i] = bits32(F32(a[i]) / F32(b[i]))
		}
	},
	double: func(d, a, b, _, _ *Vec64) {
		for i := range d {
			d[i] = bits64(math.Float64frombits(a[i]) / math.Float64frombits(b[i]))
		}
	},
	odd:     func(a, b, _ float64) float64 { return divOdd(a, b) },
	exact64: func(a, b, _ float64) (float64, int) { return exactDiv(a, b) },
	sources: 2,
}

var rcpFloat = arithmetic{
	fast: func(d, a, _, _, _ *Vec32) {
		for i := range d {
			d[i] = bits32(1 / F32(a[i]))
		}
	},
	double: func(d, a, _, _, _ *Vec64) {
		for i := range d {
			d[i] = bits64(1 / math.Float64frombits(a[i]))
		}
	},
	odd:     func(a, _, _ float64) float64 { return divOdd(1, a) },
	exact64: func(a, _, _ float64) (float64, int) { return exactDiv(1, a) },
	sources: 1,
}

var sqrtFloat = arithmetic{
	fast: func(d, a, _, _, _ *Vec32) {
		for i := range d {
			d[i] = bits32(float32(math.Sqrt(float64(F32(a[i])))))
		}
	},
	double: func(d, a, _, _, _ *Vec64) {
		for i := range d {
			d[i] = bits64(math.Sqrt(math.Float64frombits(a[i])))
		}
	},
	odd: func(a, _, _ float64) float64 {
		s := math.Sqrt(a)
		return toOdd(s, math.FMA(-s, s, a))
	},
	exact64: func(a, _, _ float64) (float64, int) {
		s := math.Sqrt(a)
		return s, residue(s, s, a)
	},
	sources: 1,
}

// divOdd is a/b rounded to odd.
func divOdd(a, b float64) float64 {
	q := a / b
	err := math.FMA(-q, b, a)
	if b < 0 {
		err = -err
	}
	return toOdd(q, err)
}

// exactDiv is the nearest a/b and the sign of the exact quotient less it.
func exactDiv(a, b float64) (float64, int) {
	q := a / b
	if b == 0 || math.IsInf(b, 0) || math.IsInf(a, 0) {
		return q, 0
	}
	if math.IsInf(q, 0) {
		return q, overflowed(q)
	}
	r := residue(q, b, a)
	if b < 0 {
		r = -r
	}
	return q, r
}

// exactFMA is the nearest a*b+c and the sign of the exact value less it.
func exactFMA(a, b, c float64) (float64, int) {
	s := math.FMA(a, b, c)
	if s != s || math.IsInf(a, 0) || math.IsInf(b, 0) || math.IsInf(c, 0) {
		return s, 0
	}
	if math.IsInf(s, 0) {
		return s, overflowed(s)
	}
	sum := new(big.Float).SetPrec(exactPrec).SetFloat64(c)
	sum.Add(sum, exactProduct(a, b))
	return s, sum.Cmp(big.NewFloat(s))
}

// overflowed is the residue of a finite value that was rounded to infinity.
func overflowed(inf float64) int {
	if inf > 0 {
		return -1
	}
	return 1
}

// exactPrec holds any sum of products of float64 without rounding.
const exactPrec = 4400

func exactProduct(a, b float64) *big.Float {
	x := new(big.Float).SetPrec(exactPrec).SetFloat64(a)
	return x.Mul(x, big.NewFloat(b))
}

// residue is the sign of c - a*b, 0 if any is not finite.
func residue(a, b, c float64) int {
	for _, v := range [...]float64{a, b, c} {
		if math.IsInf(v, 0) || v != v {
			return 0
		}
	}
	return big.NewFloat(c).Cmp(exactProduct(a, b))
}

// approximate makes the selector of an approximate function of one source.
func approximate(f func(float64) float64) selector {
	return func(in *ir.Instr) Lane {
		switch in.Type {
		case ir.F32:
			return Lane{F32: modified32(lift32(func(a, _, _ uint32) uint32 { return bits32(float32(f(float64(F32(a))))) }), in.Mod, 1)}
		case ir.F64:
			return Lane{F64: lift64(func(a, _, _ uint64) uint64 { return bits64(f(math.Float64frombits(a))) })}
		case ir.F16, ir.BF16, ir.F16x2, ir.BF16x2:
			o := floatOp{&arithmetic{odd: func(a, _, _ float64) float64 { return f(a) }, sources: 1}}
			return Lane{F32: o.packed(in, ir.RN)}
		}
		return Lane{}
	}
}

// selectFloatMinMax returns the number where one source is NaN, NaN with
// .NaN, and orders -0 below +0. With .xorsign.abs magnitudes are compared, and the
// result is negative where one source is.
func selectFloatMinMax(in *ir.Instr) Lane {
	isMax, propagate := in.Op == ir.Max, in.Mod&ir.ModNaN != 0
	pick := func(a, b float64) bool { // true picks a
		switch {
		case a != a:
			return propagate
		case b != b:
			return !propagate
		case a == b:
			return math.Signbit(a) != isMax
		}
		return (a > b) == isMax
	}
	if in.Mod&ir.ModXorSign != 0 {
		return xorSign(in, pick)
	}
	if in.Type == ir.F64 {
		return Lane{F64: lift64(func(a, b, _ uint64) uint64 {
			x, y := math.Float64frombits(a), math.Float64frombits(b)
			if pick(x, y) {
				return bits64(x)
			}
			return bits64(y)
		})}
	}
	if in.Type == ir.F32 {
		return Lane{F32: modified32(lift32(func(a, b, _ uint32) uint32 {
			if pick(float64(F32(a)), float64(F32(b))) {
				return bits32(F32(a))
			}
			return bits32(F32(b))
		}), in.Mod, 2)}
	}
	o := floatOp{&arithmetic{sources: 2, odd: func(a, b, _ float64) float64 {
		if pick(a, b) {
			return a
		}
		return b
	}}}
	return Lane{F32: o.packed(in, ir.RN)}
}

// xorSign is min.xorsign.abs and max.xorsign.abs by how magnitudes are picked.
func xorSign(in *ir.Instr, pick func(a, b float64) bool) Lane {
	choose := func(a, b, _ float64) float64 {
		r, negative := math.Abs(b), math.Signbit(a) != math.Signbit(b)
		if pick(math.Abs(a), r) {
			r = math.Abs(a)
		}
		if negative && r == r {
			return -r
		}
		return r
	}
	if in.Type == ir.F32 {
		return Lane{F32: modified32(lift32(func(a, b, _ uint32) uint32 { return bits32(float32(choose(float64(F32(a)), float64(F32(b)), 0))) }), in.Mod, 2)}
	}
	o := floatOp{&arithmetic{sources: 2, odd: choose}}
	return Lane{F32: o.packed(in, ir.RN)}
}

// selectSign is neg, abs and copysign, which move only the sign bit.
func selectSign(in *ir.Instr) Lane {
	mask := uint64(1) << (Width(in.Type) - 1)
	switch in.Type {
	case ir.F16x2, ir.BF16x2:
		mask |= 1 << 15
	case ir.F64:
		return Lane{F64: signOp(in.Op, mask)}
	}
	f := signOp(in.Op, uint32(mask))
	if in.Type == ir.F32 {
		return Lane{F32: modified32(f, in.Mod&^ir.ModSat, 1)}
	}
	return Lane{F32: f}
}

// signOp works on the bits of mask. copysign d, a, b takes its sign from a.
func signOp[T Word](op ir.Op, mask T) func(d, a, b, _, _ *[arch.WarpSize]T) {
	return func(d, a, b, _, _ *[arch.WarpSize]T) {
		for i := range d {
			switch op {
			case ir.Neg:
				d[i] = a[i] ^ mask
			case ir.Abs:
				d[i] = a[i] &^ mask
			default:
				d[i] = b[i]&^mask | a[i]&mask
			}
		}
	}
}
