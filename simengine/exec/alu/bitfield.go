package alu

import (
	"math/bits"

	"github.com/warptune/warptune/simengine/ir"
)

// extractField is bfe on a word of w bits.
func extractField(a uint64, pos, length uint32, w int, signed bool) uint64 {
	pos, length = pos&0xff, length&0xff
	if length == 0 {
		return 0
	}
	msb := uint32(w - 1)
	v := a >> pos
	n := length
	if pos > msb {
		n = 0
	} else {
		n = min(n, msb-pos+1)
	}
	if n < 64 {
		v &= 1<<n - 1
	}
	if signed && length > n || signed && n > 0 {
		signBit := a >> min(pos+length-1, msb) & 1
		if signBit == 1 && n < 64 {
			v |= ^uint64(0) << n
		}
	}
	return v
}

func selectBfe(in *ir.Instr) Lane {
	signed := in.Type.IsSigned()
	switch Width(in.Type) {
	case 64:
		return Lane{F64: lift64(func(a, b, c uint64) uint64 { return extractField(a, uint32(b), uint32(c), 64, signed) })}
	case 32:
		return Lane{F32: lift32(func(a, b, c uint32) uint32 { return uint32(extractField(uint64(a), b, c, 32, signed)) })}
	}
	return Lane{}
}

// insertField puts the low bits of a into b at pos.
func insertField(a, b uint64, pos, length uint32, w int) uint64 {
	pos, length = pos&0xff, length&0xff
	if pos >= uint32(w) || length == 0 {
		return b
	}
	n := min(length, uint32(w)-pos)
	m := ^uint64(0)
	if n < 64 {
		m = 1<<n - 1
	}
	return b&^(m<<pos) | a&m<<pos
}

func selectBfi(in *ir.Instr) Lane {
	switch Width(in.Type) {
	case 64:
		return Lane{F64: func(d, a, b, c, e *Vec64) {
			for i := range d {
				d[i] = insertField(a[i], b[i], uint32(c[i]), uint32(e[i]), 64)
			}
		}}
	case 32:
		return Lane{F32: func(d, a, b, c, e *Vec32) {
			for i := range d {
				d[i] = uint32(insertField(uint64(a[i]), uint64(b[i]), c[i], e[i], 32))
			}
		}}
	}
	return Lane{}
}

// selectBfind finds the highest bit that differs from the sign, all ones if none.
func selectBfind(in *ir.Instr) Lane {
	signed, amount, w := in.Type.IsSigned(), in.Mod&ir.ModShiftAmt != 0, Width(in.Type)
	find := func(v uint64) uint32 {
		n := bits.Len64(v) - 1
		if n >= 0 && amount {
			n = w - 1 - n
		}
		return uint32(n)
	}
	switch w {
	case 64:
		return Lane{F64: lift64(func(a, _, _ uint64) uint64 {
			if signed && int64(a) < 0 {
				a = ^a
			}
			return uint64(find(a))
		})}
	case 32:
		return Lane{F32: lift32(func(a, _, _ uint32) uint32 {
			if signed && int32(a) < 0 {
				a = ^a
			}
			return find(uint64(a))
		})}
	}
	return Lane{}
}

// findNthSet is fns: the position of the n-th set bit of mask counted from
// base, upwards for n > 0 and downwards for n < 0; all ones when there is none.
func findNthSet(mask, base, n uint32) uint32 {
	count, step := int32(n), int32(1)
	if count < 0 {
		count, step = -count, -1
	}
	if base > 31 {
		return ^uint32(0)
	}
	if count == 0 {
		if mask>>base&1 == 1 {
			return base
		}
		return ^uint32(0)
	}
	for i := int32(base); i >= 0 && i < 32; i += step {
		if mask>>uint(i)&1 == 1 {
			count--
			if count == 0 {
				return uint32(i)
			}
		}
	}
	return ^uint32(0)
}

func selectSzext(in *ir.Instr) Lane {
	if Width(in.Type) != 32 {
		return Lane{}
	}
	signed, wrap := in.Type.IsSigned(), in.Mod&ir.ModWrap != 0
	return Lane{F32: lift32(func(a, b, _ uint32) uint32 {
		if wrap {
			b &= 31
		}
		if b >= 32 {
			return a
		}
		if b == 0 {
			return 0
		}
		s := 32 - b
		if signed {
			return uint32(int32(a<<s) >> s)
		}
		return a << s >> s
	})}
}

func selectBmsk(in *ir.Instr) Lane {
	if Width(in.Type) != 32 {
		return Lane{}
	}
	wrap := in.Mod&ir.ModWrap != 0
	return Lane{F32: lift32(func(a, b, _ uint32) uint32 {
		if wrap {
			a, b = a&31, b&31
		}
		return (1<<min(b, 32) - 1) << a
	})}
}

// selectPrmt is the byte permutation and its special modes (PTX ISA, prmt).
func selectPrmt(in *ir.Instr) Lane {
	if Width(in.Type) != 32 {
		return Lane{}
	}
	mode := in.Bool
	return Lane{F32: lift32(func(a, b, c uint32) uint32 {
		v := uint64(b)<<32 | uint64(a)
		var d uint32
		for i := uint32(0); i < 4; i++ {
			sel := prmtSelector(mode, c, i)
			byt := uint32(v>>(8*(sel&7))) & 0xff
			if sel&8 != 0 {
				byt = uint32(int8(byt)>>7) & 0xff
			}
			d |= byt << (8 * i)
		}
		return d
	})}
}

// prmtSelector is the selector of result byte i: 0 to 7 a byte of b:a, with
// bit 3 its sign instead.
func prmtSelector(mode ir.BoolOp, c, i uint32) uint32 {
	n := c & 3
	switch mode {
	case ir.PrmtF4E:
		return n + i
	case ir.PrmtB4E:
		return (n - i) & 7
	case ir.PrmtRC8:
		return n
	case ir.PrmtECL:
		return max(n, i)
	case ir.PrmtECR:
		return min(n, i)
	case ir.PrmtRC16:
		return (n&1)*2 + i&1
	}
	return c >> (4 * i) & 0xf
}
