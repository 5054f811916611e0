package alu

import (
	"github.com/warptune/warptune/simengine/arch"
	"math/bits"

	"github.com/warptune/warptune/simengine/ir"
)

// bitOps are moves, logic, shifts and bit fields: instructions that do not
// care whether their operands are numbers.
var bitOps = map[ir.Op]selector{
	ir.Mov:   byWidth(copy32, copy64),
	ir.And:   byWidth(andBits[uint32], andBits[uint64]),
	ir.Or:    byWidth(orBits[uint32], orBits[uint64]),
	ir.Xor:   byWidth(xorBits[uint32], xorBits[uint64]),
	ir.Not:   integer{notBits[uint32], notBits[uint32], notBits[uint64], notBits[uint64], 1}.pick,
	ir.CNot:  integer{cnotBits[uint32], cnotBits[uint32], cnotBits[uint64], cnotBits[uint64], 1}.pick,
	ir.Lop3:  selectLop3,
	ir.Shl:   selectShift,
	ir.Shr:   selectShift,
	ir.Shf:   selectFunnel,
	ir.Bfe:   selectBfe,
	ir.Bfi:   selectBfi,
	ir.Bfind: selectBfind,
	ir.Brev:  byWidth(lift32(func(a, _, _ uint32) uint32 { return bits.Reverse32(a) }), lift64(func(a, _, _ uint64) uint64 { return bits.Reverse64(a) })),
	ir.Clz: byWidth(lift32(func(a, _, _ uint32) uint32 { return uint32(bits.LeadingZeros32(a)) }),
		lift64(func(a, _, _ uint64) uint64 { return uint64(bits.LeadingZeros64(a)) })),
	ir.Popc: byWidth(lift32(func(a, _, _ uint32) uint32 { return uint32(bits.OnesCount32(a)) }),
		lift64(func(a, _, _ uint64) uint64 { return uint64(bits.OnesCount64(a)) })),
	ir.Fns:   only32(lift32(findNthSet)),
	ir.Szext: selectSzext,
	ir.Bmsk:  selectBmsk,
	ir.Prmt:  selectPrmt,
}

// byWidth picks by operand width alone; narrow operands live in 32 bits and
// these operations keep them so.
func byWidth(f32 Func32, f64 Func64) selector {
	return func(in *ir.Instr) Lane {
		switch w := Width(in.Type); {
		case w == 64:
			return Lane{F64: f64}
		case w > 0:
			return Lane{F32: f32}
		}
		return Lane{}
	}
}

func only32(f Func32) selector {
	return func(in *ir.Instr) Lane {
		if Width(in.Type) != 32 {
			return Lane{}
		}
		return Lane{F32: f}
	}
}

func copy32(d, a, _, _, _ *Vec32) { *d = *a }
func copy64(d, a, _, _, _ *Vec64) { *d = *a }

func andBits[T Word](d, a, b, _, _ *[arch.WarpSize]T) {
	for i := range d {
		d[i] = a[i] & b[i]
	}
}

func orBits[T Word](d, a, b, _, _ *[arch.WarpSize]T) {
	for i := range d {
		d[i] = a[i] | b[i]
	}
}

func xorBits[T Word](d, a, b, _, _ *[arch.WarpSize]T) {
	for i := range d {
		d[i] = a[i] ^ b[i]
	}
}

func notBits[T Word](d, a, _, _, _ *[arch.WarpSize]T) {
	for i := range d {
		d[i] = ^a[i]
	}
}

func cnotBits[T Word](d, a, _, _, _ *[arch.WarpSize]T) {
	for i := range d {
		if a[i] == 0 {
			d[i] = 1
		} else {
			d[i] = 0
		}
	}
}

// selectLop3 evaluates the truth table by selecting on a, then b, then c:
// entry 4a+2b+c of the table is its bit of that number.
func selectLop3(in *ir.Instr) Lane {
	if Width(in.Type) != 32 || len(in.Src) != 4 || in.Src[3].Kind != ir.OperandImm {
		return Lane{}
	}
	var t [8]uint32
	for i := range t {
		t[i] = -uint32(in.Src[3].Imm >> i & 1)
	}
	return Lane{F32: func(d, a, b, c, _ *Vec32) {
		for i := range d {
			x, y, z := a[i], b[i], c[i]
			b11 := t[7]&z | t[6]&^z
			b10 := t[5]&z | t[4]&^z
			b01 := t[3]&z | t[2]&^z
			b00 := t[1]&z | t[0]&^z
			d[i] = x&(y&b11|b10&^y) | (y&b01|b00&^y)&^x
		}
	}}
}

// selectShift shifts by a 32-bit amount clamped at the width, which is what
// Go's shifts do.
func selectShift(in *ir.Instr) Lane {
	right, signed := in.Op == ir.Shr, in.Type.IsSigned()
	switch w := Width(in.Type); {
	case w == 64 && !right:
		return Lane{F64: shiftLeft[uint64]}
	case w == 64 && signed:
		return Lane{F64: shiftRightArithmetic[uint64, int64]}
	case w == 64:
		return Lane{F64: shiftRight[uint64]}
	case w != 32 && w != 16:
		return Lane{}
	case !right && w == 16:
		return Lane{F32: narrow(shiftLeft[uint32], 16, false, 1)}
	case !right:
		return Lane{F32: shiftLeft[uint32]}
	case signed && w == 16:
		return Lane{F32: narrow(shiftRightArithmetic[uint32, int32], 16, true, 1)}
	case signed:
		return Lane{F32: shiftRightArithmetic[uint32, int32]}
	case w == 16:
		return Lane{F32: narrow(shiftRight[uint32], 16, false, 1)}
	}
	return Lane{F32: shiftRight[uint32]}
}

func shiftLeft[T Word](d, a, b, _, _ *[arch.WarpSize]T) {
	for i := range d {
		d[i] = a[i] << b[i]
	}
}

func shiftRight[T Word](d, a, b, _, _ *[arch.WarpSize]T) {
	for i := range d {
		d[i] = a[i] >> b[i]
	}
}

func shiftRightArithmetic[T Word, S int32 | int64](d, a, b, _, _ *[arch.WarpSize]T) {
	for i := range d {
		d[i] = T(S(a[i]) >> b[i])
	}
}

// selectFunnel is shf: 64 bits b:a shifted, .l keeping the upper half.
func selectFunnel(in *ir.Instr) Lane {
	if Width(in.Type) != 32 {
		return Lane{}
	}
	left, wrap := in.Mod&ir.ModLeft != 0, in.Mod&ir.ModWrap != 0
	return Lane{F32: lift32(func(a, b, c uint32) uint32 {
		if wrap {
			c &= 31
		}
		n := min(c, 32)
		v := uint64(b)<<32 | uint64(a)
		if left {
			return uint32(v << n >> 32)
		}
		return uint32(v >> n)
	})}
}
