package alu

import (
	"math"

	"github.com/warptune/warptune/simengine/exec/element"
	"github.com/warptune/warptune/simengine/ir"
)

// selectCvt picks the conversion from in.SrcType to in.Type.
func selectCvt(in *ir.Instr) Lane {
	from, to := in.SrcType, in.Type
	switch {
	case Width(from) == 0 || Width(to) == 0:
		return Lane{}
	case to == ir.E4M3x2 || to == ir.E5M2x2:
		return packEights(in)
	case from == ir.E4M3x2 || from == ir.E5M2x2:
		return unpackEights(in)
	case to == ir.F16x2 || to == ir.BF16x2:
		return packPair(in)
	case !from.IsFloat() && !to.IsFloat():
		return convertInts(in)
	}
	var f func(uint64) uint64
	switch {
	case from.IsFloat() && to.IsFloat():
		f = floatToFloat(in)
	case from.IsFloat():
		f = floatToInt(in)
	default:
		f = intToFloat(in)
	}
	if f == nil {
		return Lane{}
	}
	if Width(from) == 64 || Width(to) == 64 {
		return Lane{F64: lift64(func(a, _, _ uint64) uint64 { return f(a) })}
	}
	return Lane{F32: lift32(func(a, _, _ uint32) uint32 { return uint32(f(uint64(a))) })}
}

// Extend64 is the value of the low bits of v.
func Extend64(v uint64, bits int, signed bool) uint64 {
	s := uint(64 - bits)
	if signed {
		return uint64(int64(v<<s) >> s)
	}
	return v << s >> s
}

// convertInts extends the source by its type, then cuts or clamps to the
// destination; a register wider than the destination type holds the value
// extended by that type.
func convertInts(in *ir.Instr) Lane {
	from, to := Width(in.SrcType), Width(in.Type)
	sf, st := in.SrcType.IsSigned(), in.Type.IsSigned()
	if in.Mod&ir.ModSat != 0 {
		f := func(v uint64) uint64 { return clampInt(Extend64(v, from, sf), sf, to, st) }
		if from == 64 || to == 64 {
			return Lane{F64: lift64(func(a, _, _ uint64) uint64 { return f(a) })}
		}
		return Lane{F32: lift32(func(a, _, _ uint32) uint32 { return uint32(f(uint64(a))) })}
	}
	if from < 64 && to == 64 { // the source's register may be wider than its type
		l := Lane{F64: lift64(func(a, _, _ uint64) uint64 { return Extend64(a, from, sf) })}
		if sf && from == 32 {
			l.Sext = 1
		}
		return l
	}
	if from == 64 {
		l := Lane{F64: copy64}
		if to < 32 {
			l.F64 = lift64(func(a, _, _ uint64) uint64 { return Extend64(a, to, st) })
		}
		return l
	}
	bits, signed := from, sf
	if to < from {
		bits, signed = to, st
	}
	return Lane{F32: func(d, a, _, _, _ *Vec32) { extend32(d, a, bits, signed) }}
}

// clampInt clamps v, signed as sf says, to the range of an integer type.
func clampInt(v uint64, sf bool, bits int, signed bool) uint64 {
	if sf && int64(v) < 0 {
		if !signed {
			return 0
		}
		return uint64(max(int64(v), -1<<(bits-1)))
	}
	top := ^uint64(0) >> (64 - bits)
	if signed {
		top >>= 1
	}
	return min(v, top)
}

// DecodeFloat returns the function from register bits to value.
func DecodeFloat(t ir.Type, ftz bool) func(uint64) float64 {
	var f *element.Format
	switch t {
	case ir.F64:
		return math.Float64frombits
	case ir.F32, ir.TF32:
		return func(v uint64) float64 {
			if ftz {
				v = uint64(flush32(uint32(v)))
			}
			return float64(F32(uint32(v)))
		}
	case ir.F16:
		f = &element.Half
	case ir.BF16:
		f = &element.Bfloat
	case ir.E4M3:
		f = &element.E4M3
	case ir.E5M2:
		f = &element.E5M2
	default:
		return nil
	}
	return func(v uint64) float64 { return f.Unpack(uint32(v) & (f.SignBit<<1 - 1)) }
}

// encodeFloat returns the function from a value rounded to odd to register bits.
func encodeFloat(t ir.Type, mode ir.Round, ftz, finite bool) func(float64) uint64 {
	switch t {
	case ir.F64:
		return bits64
	case ir.F32:
		return func(v float64) uint64 {
			r := element.Single.Pack(v, mode, false)
			if ftz {
				r = flush32(r)
			}
			return uint64(r)
		}
	case ir.TF32:
		// A tf32 is the upper 19 bits of a float32.
		return func(v float64) uint64 { return uint64(element.TF32.Pack(v, mode, finite)) << 13 }
	}
	formats := map[ir.Type]*element.Format{ir.F16: &element.Half, ir.BF16: &element.Bfloat, ir.E4M3: &element.E4M3, ir.E5M2: &element.E5M2}
	f := formats[t]
	if f == nil {
		return nil
	}
	return func(v float64) uint64 { return uint64(f.Pack(v, mode, finite)) }
}

// integral maps the integer rounding modes to a rounding to an integer.
func integral(v float64, mode ir.Round) float64 {
	switch mode {
	case ir.RZI, ir.RZ:
		return math.Trunc(v)
	case ir.RMI, ir.RM:
		return math.Floor(v)
	case ir.RPI, ir.RP:
		return math.Ceil(v)
	}
	return math.RoundToEven(v)
}

func floatToFloat(in *ir.Instr) func(uint64) uint64 {
	ftz, sat, relu := in.Mod&ir.ModFtz != 0, in.Mod&ir.ModSat != 0, in.Mod&ir.ModRelu != 0
	toInt := in.Round == ir.RNI || in.Round == ir.RZI || in.Round == ir.RMI || in.Round == ir.RPI
	mode := in.Round
	if mode == ir.RoundNone || toInt {
		mode = ir.RN
	}
	narrow := in.Type == ir.E4M3 || in.Type == ir.E5M2 || in.Type == ir.TF32 && sat // .satfinite
	dec, enc := DecodeFloat(in.SrcType, ftz), encodeFloat(in.Type, mode, ftz, narrow)
	if dec == nil || enc == nil {
		return nil
	}
	return func(a uint64) uint64 {
		v := dec(a)
		if toInt {
			v = integral(v, in.Round)
		}
		if sat && !narrow {
			if !(v > 0) {
				v = 0
			}
			v = math.Min(v, 1)
		}
		if relu && v < 0 {
			v = 0
		}
		return enc(v)
	}
}

// floatToInt rounds, then clamps to the destination's range. NaN gives 0,
// or the sign bit alone when either type has 64 bits (PTX ISA, cvt).
func floatToInt(in *ir.Instr) func(uint64) uint64 {
	dec := DecodeFloat(in.SrcType, in.Mod&ir.ModFtz != 0)
	if dec == nil {
		return nil
	}
	bits, signed := Width(in.Type), in.Type.IsSigned()
	nan := uint64(0)
	if bits == 64 || in.SrcType == ir.F64 {
		nan = 1 << (bits - 1)
	}
	mode := in.Round
	return func(a uint64) uint64 {
		v := dec(a)
		if v != v {
			return nan
		}
		r := clampFloat(integral(v, mode), bits, signed)
		return Extend64(r, bits, signed)
	}
}

// clampFloat converts an integral v to an integer type, clamped to its range.
func clampFloat(v float64, bits int, signed bool) uint64 {
	if signed {
		limit := math.Ldexp(1, bits-1)
		switch {
		case v >= limit:
			return 1<<(bits-1) - 1
		case v < -limit:
			return uint64(int64(-1) << (bits - 1))
		}
		return uint64(int64(v))
	}
	switch {
	case v <= 0:
		return 0
	case v >= math.Ldexp(1, bits):
		return ^uint64(0) >> (64 - bits)
	}
	return uint64(v)
}

// intToFloat converts with one rounding: the integer is first brought to
// float64 rounded to odd.
func intToFloat(in *ir.Instr) func(uint64) uint64 {
	mode := in.Round
	if mode == ir.RoundNone {
		mode = ir.RN
	}
	bits, signed := Width(in.SrcType), in.SrcType.IsSigned()
	sat := in.Mod&ir.ModSat != 0
	if in.Type == ir.F64 {
		return func(a uint64) uint64 {
			v, r := nearestDouble(Extend64(a, bits, signed), signed)
			return bits64(direct(v, r, mode))
		}
	}
	enc := encodeFloat(in.Type, mode, false, false)
	if enc == nil {
		return nil
	}
	return func(a uint64) uint64 {
		v, r := nearestDouble(Extend64(a, bits, signed), signed)
		v = toOdd(v, float64(r))
		if sat {
			v = math.Max(0, math.Min(1, v))
		}
		return enc(v)
	}
}

// nearestDouble is the nearest float64 and the sign of the integer less it.
func nearestDouble(v uint64, signed bool) (float64, int) {
	negative := signed && int64(v) < 0
	if negative {
		v = -v
	}
	f := float64(v)
	r := 0
	switch {
	case f >= 1<<64 || uint64(f) > v:
		r = -1
	case uint64(f) < v:
		r = 1
	}
	if negative {
		return -f, -r
	}
	return f, r
}

// packPair is cvt to f16x2 or bf16x2 of two floats: the first source becomes
// the upper half.
func packPair(in *ir.Instr) Lane {
	if in.SrcType != ir.F32 {
		return Lane{}
	}
	mode := in.Round
	if mode == ir.RoundNone {
		mode = ir.RN
	}
	f := narrowFormat(in.Type)
	finite, relu := in.Mod&ir.ModSat != 0, in.Mod&ir.ModRelu != 0
	one := func(bits uint32) uint32 {
		v := float64(F32(bits))
		if relu && v < 0 {
			v = 0
		}
		return f.Pack(v, mode, finite)
	}
	return Lane{F32: lift32(func(a, b, _ uint32) uint32 { return one(a)<<16 | one(b) })}
}
