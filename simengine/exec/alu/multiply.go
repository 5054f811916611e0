package alu

import (
	"math/bits"

	"github.com/warptune/warptune/simengine/ir"
)

func selectMul(in *ir.Instr) Lane {
	signed, w := in.Type.IsSigned(), Width(in.Type)
	if in.Mod&(ir.ModCarryIn|ir.ModCarryOut|ir.ModSat) != 0 {
		if in.Op == ir.Mad && in.Mod&(ir.ModCarryIn|ir.ModCarryOut) == 0 && in.Mod&ir.ModHi != 0 && in.Type == ir.S32 {
			return Lane{F32: lift32(madHiSat)}
		}
		return Lane{}
	}
	low := mulOps
	if in.Op == ir.Mad {
		low = madOps
	}
	switch {
	case in.Mod&ir.ModWide != 0 && w == 32:
		l := Lane{F64: low.u64}
		if signed {
			l.Sext = 1 | 2
		}
		return l
	case in.Mod&ir.ModWide != 0 && w == 16:
		return Lane{F32: wide16(low.u32, signed)}
	case in.Mod&ir.ModWide != 0:
		return Lane{}
	case in.Mod&ir.ModHi != 0:
		return selectMulHi(in, signed, w)
	}
	return low.pick(in)
}

// wide16 multiplies 16-bit sources into 32 bits; a third source is 32 bits.
func wide16(f Func32, signed bool) Func32 {
	return func(d, a, b, c, e *Vec32) {
		var x, y Vec32
		extend32(&x, a, 16, signed)
		extend32(&y, b, 16, signed)
		f(d, &x, &y, c, e)
	}
}

// MulHi is the upper half of the product of two words of w bits.
func MulHi(a, b uint64, w int, signed bool) uint64 {
	switch {
	case w == 64 && signed:
		hi, _ := bits.Mul64(a, b)
		// Unsigned to signed product: subtract each factor where the other is negative.
		return hi - uint64(int64(a)>>63)&b - uint64(int64(b)>>63)&a
	case w == 64:
		hi, _ := bits.Mul64(a, b)
		return hi
	case signed:
		s := uint(64 - w)
		return uint64((int64(a<<s) >> s) * (int64(b<<s) >> s) >> w)
	}
	m := uint64(1)<<w - 1
	return (a & m) * (b & m) >> w
}

func selectMulHi(in *ir.Instr, signed bool, w int) Lane {
	mad := in.Op == ir.Mad
	if w == 64 {
		return Lane{F64: func(d, a, b, c, _ *Vec64) {
			for i := range d {
				v := MulHi(a[i], b[i], 64, signed)
				if mad {
					v += c[i]
				}
				d[i] = v
			}
		}}
	}
	mask := uint32(uint64(1)<<w - 1)
	return Lane{F32: func(d, a, b, c, _ *Vec32) {
		for i := range d {
			v := uint32(MulHi(uint64(a[i]), uint64(b[i]), w, signed))
			if mad {
				v += c[i]
			}
			d[i] = v & mask
		}
	}}
}

func madHiSat(a, b, c uint32) uint32 {
	return clampS32(int64(int32(a))*int64(int32(b))>>32 + int64(int32(c)))
}

// selectMul24 multiplies the low 24 bits; .hi takes bits 47 to 16.
func selectMul24(in *ir.Instr) Lane {
	if Width(in.Type) != 32 || in.Mod&ir.ModSat != 0 {
		return Lane{}
	}
	signed, hi, mad := in.Type.IsSigned(), in.Mod&ir.ModHi != 0, in.Op == ir.Mad24
	return Lane{F32: lift32(func(a, b, c uint32) uint32 {
		p := uint64(a&0xffffff) * uint64(b&0xffffff)
		if signed {
			p = uint64(int64(int32(a<<8)>>8) * int64(int32(b<<8)>>8))
		}
		if hi {
			p >>= 16
		}
		if mad {
			return uint32(p) + c
		}
		return uint32(p)
	})}
}

// selectDot is dp4a and dp2a. The signedness of b is SrcType's where it is
// given, else a's.
func selectDot(in *ir.Instr) Lane {
	sa := in.Type.IsSigned()
	sb := sa
	if in.SrcType != ir.TypeInvalid {
		sb = in.SrcType.IsSigned()
	}
	ext := func(v uint32, bits int, signed bool) uint32 {
		s := uint(32 - bits)
		if signed {
			return uint32(int32(v<<s) >> s)
		}
		return v << s >> s
	}
	if in.Op == ir.Dp4a {
		return Lane{F32: lift32(func(a, b, c uint32) uint32 {
			for s := 0; s < 32; s += 8 {
				c += ext(a>>s, 8, sa) * ext(b>>s, 8, sb)
			}
			return c
		})}
	}
	shift := 0
	if in.Mod&ir.ModHi != 0 {
		shift = 16
	}
	return Lane{F32: lift32(func(a, b, c uint32) uint32 {
		b >>= shift
		return c + ext(a, 16, sa)*ext(b, 8, sb) + ext(a>>16, 16, sa)*ext(b>>8, 8, sb)
	})}
}
