package alu

import (
	"github.com/warptune/warptune/simengine/exec/element"
	"github.com/warptune/warptune/simengine/ir"
)

// Conversions to and from pairs of floating-point numbers of eight bits (PTX ISA, cvt), which saturate
// at the largest finite number.

// eightsFormat is the format of one of a pair.
func eightsFormat(t ir.Type) *element.Format {
	if t == ir.E4M3x2 {
		return &element.E4M3
	}
	return &element.E5M2
}

// packEights converts two floats, the first of which becomes the upper eight bits, or a pair of halves.
func packEights(in *ir.Instr) Lane {
	f, relu := eightsFormat(in.Type), in.Mod&ir.ModRelu != 0
	one := func(v float64) uint32 {
		if relu && v < 0 {
			v = 0
		}
		return f.Pack(v, ir.RN, true)
	}
	switch in.SrcType {
	case ir.F32:
		return Lane{F32: lift32(func(a, b, _ uint32) uint32 { return one(float64(F32(a)))<<8 | one(float64(F32(b))) })}
	case ir.F16x2:
		return Lane{F32: lift32(func(a, _, _ uint32) uint32 {
			return one(element.Half.Unpack(a>>16))<<8 | one(element.Half.Unpack(a&0xffff))
		})}
	}
	return Lane{}
}

// unpackEights converts a pair to halves, which hold all of their values.
func unpackEights(in *ir.Instr) Lane {
	if in.Type != ir.F16x2 {
		return Lane{}
	}
	f, relu := eightsFormat(in.SrcType), in.Mod&ir.ModRelu != 0
	one := func(bits uint32) uint32 {
		v := f.Unpack(bits & 0xff)
		if relu && v < 0 {
			v = 0
		}
		return element.Half.Pack(v, ir.RN, false)
	}
	return Lane{F32: lift32(func(a, _, _ uint32) uint32 { return one(a>>8)<<16 | one(a) })}
}
