package alu

import (
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/simengine/ir"
)

// integer names the lane functions of one operation for each operand type.
// Sources is how many sources have the instruction's type.
type integer struct {
	u32, s32 Func32
	u64, s64 Func64
	sources  int
}

// pick chooses by the instruction's type. 16-bit operands compute in 32 bits.
func (t integer) pick(in *ir.Instr) Lane {
	signed := in.Type.IsSigned()
	f32, f64 := t.u32, t.u64
	if signed {
		f32, f64 = t.s32, t.s64
	}
	switch w := Width(in.Type); {
	case in.Type == ir.U16x2 || in.Type == ir.S16x2:
		return Lane{}
	case w == 64:
		return Lane{F64: f64}
	case w == 32:
		return Lane{F32: f32}
	case w == 16 || w == 8:
		if f32 == nil {
			return Lane{}
		}
		return Lane{F32: narrow(f32, w, signed, t.sources)}
	}
	return Lane{}
}

// integerOps are the integer arithmetic instructions.
var integerOps = map[ir.Op]selector{
	ir.Add:       selectAddSub,
	ir.Sub:       selectAddSub,
	ir.Mul:       selectMul,
	ir.Mad:       selectMul,
	ir.Mul24:     selectMul24,
	ir.Mad24:     selectMul24,
	ir.Sad:       integer{sad32u, sad32s, sad64u, sad64s, 2}.pick,
	ir.Vabsdiff4: selectApart4,
	ir.Div:       integer{lift32(div32u), lift32(div32s), lift64(div64u), lift64(div64s), 2}.pick,
	ir.Rem:       integer{lift32(rem32u), lift32(rem32s), lift64(rem64u), lift64(rem64s), 2}.pick,
	ir.Abs:       integer{nil, absInt[uint32, int32], nil, absInt[uint64, int64], 1}.pick,
	ir.Neg:       integer{negInt[uint32], negInt[uint32], negInt[uint64], negInt[uint64], 1}.pick,
	ir.Min:       selectMinMax,
	ir.Max:       selectMinMax,
	ir.Dp4a:      selectDot,
	ir.Dp2a:      selectDot,
	ir.Slct:      selectSlct,
}

func addInt[T Word](d, a, b, _, _ *[arch.WarpSize]T) {
	for i := range d {
		d[i] = a[i] + b[i]
	}
}

func subInt[T Word](d, a, b, _, _ *[arch.WarpSize]T) {
	for i := range d {
		d[i] = a[i] - b[i]
	}
}

func mulInt[T Word](d, a, b, _, _ *[arch.WarpSize]T) {
	for i := range d {
		d[i] = a[i] * b[i]
	}
}

func madInt[T Word](d, a, b, c, _ *[arch.WarpSize]T) {
	for i := range d {
		d[i] = a[i]*b[i] + c[i]
	}
}

func negInt[T Word](d, a, _, _, _ *[arch.WarpSize]T) {
	for i := range d {
		d[i] = -a[i]
	}
}

func absInt[T Word, S int32 | int64](d, a, _, _, _ *[arch.WarpSize]T) {
	for i := range d {
		v := S(a[i])
		if v < 0 {
			v = -v
		}
		d[i] = T(v)
	}
}

func minInt[T Word, S int32 | int64 | uint32 | uint64](d, a, b, _, _ *[arch.WarpSize]T) {
	for i := range d {
		d[i] = T(min(S(a[i]), S(b[i])))
	}
}

func maxInt[T Word, S int32 | int64 | uint32 | uint64](d, a, b, _, _ *[arch.WarpSize]T) {
	for i := range d {
		d[i] = T(max(S(a[i]), S(b[i])))
	}
}

var (
	addOps = integer{addInt[uint32], addInt[uint32], addInt[uint64], addInt[uint64], 2}
	subOps = integer{subInt[uint32], subInt[uint32], subInt[uint64], subInt[uint64], 2}
	minOps = integer{minInt[uint32, uint32], minInt[uint32, int32], minInt[uint64, uint64], minInt[uint64, int64], 2}
	maxOps = integer{maxInt[uint32, uint32], maxInt[uint32, int32], maxInt[uint64, uint64], maxInt[uint64, int64], 2}
	mulOps = integer{mulInt[uint32], mulInt[uint32], mulInt[uint64], mulInt[uint64], 2}
	madOps = integer{madInt[uint32], madInt[uint32], madInt[uint64], madInt[uint64], 3}
)

func selectAddSub(in *ir.Instr) Lane {
	sub := in.Op == ir.Sub
	switch {
	case in.Mod&(ir.ModCarryIn|ir.ModCarryOut) != 0:
		return Lane{}
	case in.Type == ir.U16x2 || in.Type == ir.S16x2:
		if sub {
			return Lane{F32: halves(func(a, b, _ uint32) uint32 { return a - b })}
		}
		return Lane{F32: halves(func(a, b, _ uint32) uint32 { return a + b })}
	case in.Mod&ir.ModSat != 0:
		if in.Type != ir.S32 {
			return Lane{}
		}
		return Lane{F32: lift32(func(a, b, _ uint32) uint32 {
			x, y := int64(int32(a)), int64(int32(b))
			if sub {
				y = -y
			}
			return clampS32(x + y)
		})}
	case sub:
		return subOps.pick(in)
	}
	return addOps.pick(in)
}

func clampS32(v int64) uint32 {
	return uint32(max(min(v, 1<<31-1), -1<<31))
}

func selectMinMax(in *ir.Instr) Lane {
	t := minOps
	if in.Op == ir.Max {
		t = maxOps
	}
	if in.Mod&ir.ModRelu != 0 && in.Type.IsSigned() {
		t.s32 = orZero(t.s32)
	}
	if in.Type == ir.U16x2 || in.Type == ir.S16x2 {
		f := narrow(t.u32, 16, false, 2)
		if in.Type.IsSigned() {
			f = narrow(t.s32, 16, true, 2)
		}
		return Lane{F32: eachHalf(f)}
	}
	return t.pick(in)
}

// orZero is the maximum of f's result and 0.
func orZero(f Func32) Func32 {
	return func(d, a, b, c, e *Vec32) {
		f(d, a, b, c, e)
		for i := range d {
			d[i] = uint32(max(int32(d[i]), 0))
		}
	}
}

// selectApart4 is vabsdiff4: the absolute differences of the bytes of two words, or their sum plus a
// third word.
func selectApart4(in *ir.Instr) Lane {
	switch in.Atom {
	case ir.AtomNone:
		return Lane{F32: lift32(func(a, b, _ uint32) uint32 {
			r := uint32(0)
			for s := 0; s < 32; s += 8 {
				r |= byteApart(a>>s, b>>s) << s
			}
			return r
		})}
	case ir.AtomAdd:
		return Lane{F32: lift32(func(a, b, c uint32) uint32 {
			for s := 0; s < 32; s += 8 {
				c += byteApart(a>>s, b>>s)
			}
			return c
		})}
	}
	return Lane{}
}

func byteApart(a, b uint32) uint32 { return max(a&0xff, b&0xff) - min(a&0xff, b&0xff) }

// eachHalf applies a 16-bit lane function to both halves of its sources.
func eachHalf(f Func32) Func32 {
	return func(d, a, b, c, e *Vec32) {
		var lo, hi, x, y, z Vec32
		f(&lo, a, b, c, e)
		for i := range d {
			x[i], y[i], z[i] = a[i]>>16, b[i]>>16, c[i]>>16
		}
		f(&hi, &x, &y, &z, e)
		for i := range d {
			d[i] = lo[i]&0xffff | hi[i]<<16
		}
	}
}

func sad32u(d, a, b, c, _ *Vec32) {
	for i := range d {
		d[i] = c[i] + max(a[i], b[i]) - min(a[i], b[i])
	}
}

func sad32s(d, a, b, c, _ *Vec32) {
	for i := range d {
		x, y := int32(a[i]), int32(b[i])
		d[i] = c[i] + uint32(max(x, y)-min(x, y))
	}
}

func sad64u(d, a, b, c, _ *Vec64) {
	for i := range d {
		d[i] = c[i] + max(a[i], b[i]) - min(a[i], b[i])
	}
}

func sad64s(d, a, b, c, _ *Vec64) {
	for i := range d {
		x, y := int64(a[i]), int64(b[i])
		d[i] = c[i] + uint64(max(x, y)-min(x, y))
	}
}

// selectSlct picks a where c >= 0, else b. A NaN picks b.
func selectSlct(in *ir.Instr) Lane {
	negative := func(c uint32) bool { return int32(c) < 0 }
	if in.SrcType == ir.F32 {
		ftz := in.Mod&ir.ModFtz != 0
		negative = func(c uint32) bool {
			if ftz {
				c = flush32(c)
			}
			return !(F32(c) >= 0)
		}
	}
	if Width(in.Type) == 64 {
		return Lane{F64: lift64(func(a, b, c uint64) uint64 {
			if negative(uint32(c)) {
				return b
			}
			return a
		})}
	}
	return Lane{F32: lift32(func(a, b, c uint32) uint32 {
		if negative(c) {
			return b
		}
		return a
	})}
}
