package exec

import "github.com/warptune/warptune/simengine/ir"

// Conversions to and from pairs of floating-point numbers of eight bits (PTX ISA, cvt), which saturate
// at the largest finite number.

// eightsFormat is the format of one of a pair.
func eightsFormat(t ir.Type) *format {
	if t == ir.E4M3x2 {
		return &e4m3Format
	}
	return &e5m2Format
}

// packEights converts two floats, the first of which becomes the upper eight bits, or a pair of halves.
func packEights(in *ir.Instr) lane {
	f, relu := eightsFormat(in.Type), in.Mod&ir.ModRelu != 0
	one := func(v float64) uint32 {
		if relu && v < 0 {
			v = 0
		}
		return f.pack(v, ir.RN, true)
	}
	switch in.SrcType {
	case ir.F32:
		return lane{f32: lift32(func(a, b, _ uint32) uint32 { return one(float64(f32(a)))<<8 | one(float64(f32(b))) })}
	case ir.F16x2:
		return lane{f32: lift32(func(a, _, _ uint32) uint32 {
			return one(halfFormat.unpack(a>>16))<<8 | one(halfFormat.unpack(a&0xffff))
		})}
	}
	return lane{}
}

// unpackEights converts a pair to halves, which hold all of their values.
func unpackEights(in *ir.Instr) lane {
	if in.Type != ir.F16x2 {
		return lane{}
	}
	f, relu := eightsFormat(in.SrcType), in.Mod&ir.ModRelu != 0
	one := func(bits uint32) uint32 {
		v := f.unpack(bits & 0xff)
		if relu && v < 0 {
			v = 0
		}
		return halfFormat.pack(v, ir.RN, false)
	}
	return lane{f32: lift32(func(a, _, _ uint32) uint32 { return one(a>>8)<<16 | one(a) })}
}
