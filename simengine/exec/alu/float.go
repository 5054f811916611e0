package alu

import (
	"math"

	"github.com/warptune/warptune/simengine/exec/element"
	"github.com/warptune/warptune/simengine/ir"
)

// floatOps are the floating-point arithmetic instructions. Results follow
// IEEE 754 with the instruction's rounding; every NaN result is NVIDIA's
// canonical NaN. The approximate instructions compute in float64 and round
// once, which is at least as exact as the hardware they stand for.
var floatOps = map[ir.Op]selector{
	ir.Add:      floatOp{&addFloat}.pick,
	ir.Sub:      floatOp{&subFloat}.pick,
	ir.Mul:      floatOp{&mulFloat}.pick,
	ir.Mad:      floatOp{&fmaFloat}.pick,
	ir.Fma:      floatOp{&fmaFloat}.pick,
	ir.Div:      floatOp{&divFloat}.pick,
	ir.Sqrt:     floatOp{&sqrtFloat}.pick,
	ir.Rcp:      floatOp{&rcpFloat}.pick,
	ir.Rsqrt:    approximate(func(x float64) float64 { return 1 / math.Sqrt(x) }),
	ir.Sin:      approximate(math.Sin),
	ir.Cos:      approximate(math.Cos),
	ir.Lg2:      approximate(math.Log2),
	ir.Ex2:      approximate(math.Exp2),
	ir.Tanh:     approximate(math.Tanh),
	ir.Min:      selectFloatMinMax,
	ir.Max:      selectFloatMinMax,
	ir.Abs:      selectSign,
	ir.Neg:      selectSign,
	ir.Copysign: selectSign,
	ir.Slct:     selectSlct,
}

// F32 is the number that a register holds.
func F32(bits uint32) float32 { return math.Float32frombits(bits) }

// bits32 is the bit pattern of v with NaNs canonical.
func bits32(v float32) uint32 {
	if v != v {
		return element.Single.NaN
	}
	return math.Float32bits(v)
}

// CanonicalNaN64 is the NaN NVIDIA's double precision units return.
const CanonicalNaN64 = 0xfff8000000000000

func bits64(v float64) uint64 {
	if v != v {
		return CanonicalNaN64
	}
	return math.Float64bits(v)
}

// flush32 turns a subnormal into a zero of its sign (.ftz).
func flush32(v uint32) uint32 {
	if v&0x7f800000 == 0 {
		return v & 0x80000000
	}
	return v
}

// saturate32 clamps to [0, 1], NaN to 0 (.sat).
func saturate32(v uint32) uint32 {
	f := F32(v)
	switch {
	case !(f > 0):
		return 0
	case f > 1:
		return math.Float32bits(1)
	}
	return v
}

// arithmetic is one operation in every precision. odd computes it in float64 rounded to odd for operands of at most
// 24 bits. fast and double are the Lane loops for round to nearest. exact64 gives the nearest float64 and the sign
// of the exact value less it, for directed rounding.
type arithmetic struct {
	fast    Func32
	double  Func64
	odd     func(a, b, c float64) float64
	exact64 func(a, b, c float64) (nearest float64, residue int)
	sources int
}

type floatOp struct{ *arithmetic }

// pick assembles the lane function for the type, rounding and modifiers.
func (o floatOp) pick(in *ir.Instr) Lane {
	mode := in.Round
	if in.Mod&(ir.ModApprox|ir.ModFull) != 0 || mode == ir.RoundNone {
		mode = ir.RN
	}
	switch in.Type {
	case ir.F64:
		if mode == ir.RN {
			return Lane{F64: o.double}
		}
		return Lane{F64: o.directed64(mode)}
	case ir.F32:
		f := o.fast
		if mode != ir.RN {
			f = o.directed32(mode)
		}
		return Lane{F32: modified32(f, in.Mod, o.sources)}
	case ir.F16, ir.BF16, ir.F16x2, ir.BF16x2:
		return Lane{F32: o.packed(in, mode)}
	}
	return Lane{}
}

// modified32 adds .ftz and .sat around a single precision lane function.
func modified32(f Func32, mod ir.Mod, sources int) Func32 {
	ftz, sat := mod&ir.ModFtz != 0, mod&ir.ModSat != 0
	if !ftz && !sat {
		return f
	}
	return func(d, a, b, c, e *Vec32) {
		var x, y, z Vec32
		if ftz {
			flushAll(&x, a)
			a = &x
			if sources > 1 {
				flushAll(&y, b)
				b = &y
			}
			if sources > 2 {
				flushAll(&z, c)
				c = &z
			}
		}
		f(d, a, b, c, e)
		if ftz {
			flushAll(d, d)
		}
		if sat {
			for i := range d {
				d[i] = saturate32(d[i])
			}
		}
	}
}

func flushAll(d, a *Vec32) {
	for i := range d {
		d[i] = flush32(a[i])
	}
}

func (o floatOp) directed32(mode ir.Round) Func32 {
	return lift32(func(a, b, c uint32) uint32 {
		v := o.odd(float64(F32(a)), float64(F32(b)), float64(F32(c)))
		return element.Single.Pack(v, mode, false)
	})
}

func (o floatOp) directed64(mode ir.Round) Func64 {
	return lift64(func(a, b, c uint64) uint64 {
		v, residue := o.exact64(math.Float64frombits(a), math.Float64frombits(b), math.Float64frombits(c))
		return bits64(direct(v, residue, mode))
	})
}

// direct moves the nearest v of an exact value by one place if the rounding
// mode asks for the other neighbour; residue is the sign of exact less v.
func direct(v float64, residue int, mode ir.Round) float64 {
	if residue == 0 || v != v {
		return v
	}
	up := residue > 0
	switch {
	case mode == ir.RP && up, mode == ir.RZ && up && v < 0:
		return math.Nextafter(v, math.Inf(1))
	case mode == ir.RM && !up, mode == ir.RZ && !up && v > 0:
		return math.Nextafter(v, math.Inf(-1))
	}
	return v
}

// packed works on one or two 16-bit floats in a 32-bit register.
func (o floatOp) packed(in *ir.Instr, mode ir.Round) Func32 {
	f := narrowFormat(in.Type)
	ftz, sat, relu := in.Mod&ir.ModFtz != 0, in.Mod&ir.ModSat != 0, in.Mod&ir.ModRelu != 0
	scalar := func(a, b, c uint32) uint32 {
		if ftz {
			a, b, c = f.Flush(a), f.Flush(b), f.Flush(c)
		}
		v := o.odd(f.Unpack(a), f.Unpack(b), f.Unpack(c))
		if sat && v == v {
			v = math.Max(0, math.Min(1, v))
		} else if sat {
			v = 0
		}
		if relu && v < 0 {
			v = 0
		}
		r := f.Pack(v, mode, false)
		if ftz {
			r = f.Flush(r)
		}
		return r
	}
	if in.Type == ir.F16x2 || in.Type == ir.BF16x2 {
		return halves(scalar)
	}
	return lift32(func(a, b, c uint32) uint32 { return scalar(a&0xffff, b&0xffff, c&0xffff) })
}

func narrowFormat(t ir.Type) *element.Format {
	if t == ir.BF16 || t == ir.BF16x2 {
		return &element.Bfloat
	}
	return &element.Half
}
