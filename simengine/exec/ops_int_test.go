package exec

import (
	"math/big"
	"math/bits"
	"testing"
)

func sx(v uint64, n uint) int64 { return int64(v<<(64-n)) >> (64 - n) }

func b2u(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// bigMul is the product of two words as a big integer.
func bigMul(a, b uint64, n uint, signed bool) *big.Int {
	x, y := new(big.Int).SetUint64(a), new(big.Int).SetUint64(b)
	if signed {
		x, y = big.NewInt(sx(a, n)), big.NewInt(sx(b, n))
	}
	return x.Mul(x, y)
}

func bigHi(a, b uint64, n uint, signed bool) uint64 {
	v := bigMul(a, b, n, signed)
	v.Rsh(v, n)
	return new(big.Int).And(v, new(big.Int).SetUint64(^uint64(0))).Uint64()
}

func TestIntegerOps(t *testing.T) {
	two32, three32 := []string{"u32", "u32"}, []string{"u32", "u32", "u32"}
	two64 := []string{"u64", "u64"}
	two16 := []string{"u16", "u16"}
	checkOps(t, []opCase{
		{"add.s32 %d, %s0, %s1;", "u32", two32, func(a, b, _ uint64) uint64 { return a + b }},
		{"add.sat.s32 %d, %s0, %s1;", "u32", two32, func(a, b, _ uint64) uint64 { return uint64(max(min(sx(a, 32)+sx(b, 32), 1<<31-1), -1<<31)) }},
		{"sub.s64 %d, %s0, %s1;", "u64", two64, func(a, b, _ uint64) uint64 { return a - b }},
		{"sub.s16 %d, %s0, %s1;", "u16", two16, func(a, b, _ uint64) uint64 { return a - b }},
		{"mul.lo.s32 %d, %s0, %s1;", "u32", two32, func(a, b, _ uint64) uint64 { return a * b }},
		{"mul.hi.s32 %d, %s0, %s1;", "u32", two32, func(a, b, _ uint64) uint64 { return bigHi(a, b, 32, true) }},
		{"mul.hi.u32 %d, %s0, %s1;", "u32", two32, func(a, b, _ uint64) uint64 { return bigHi(a, b, 32, false) }},
		{"mul.hi.s64 %d, %s0, %s1;", "u64", two64, func(a, b, _ uint64) uint64 { return bigHi(a, b, 64, true) }},
		{"mul.hi.u64 %d, %s0, %s1;", "u64", two64, func(a, b, _ uint64) uint64 { return bigHi(a, b, 64, false) }},
		{"mul.hi.u16 %d, %s0, %s1;", "u16", two16, func(a, b, _ uint64) uint64 { return a * b >> 16 }},
		{"mul.hi.s16 %d, %s0, %s1;", "u16", two16, func(a, b, _ uint64) uint64 { return uint64(sx(a, 16) * sx(b, 16) >> 16) }},
		{"mul.wide.s32 %d, %s0, %s1;", "u64", two32, func(a, b, _ uint64) uint64 { return uint64(sx(a, 32) * sx(b, 32)) }},
		{"mul.wide.u32 %d, %s0, %s1;", "u64", two32, func(a, b, _ uint64) uint64 { return a * b }},
		{"mul.wide.s32 %d, %s0, -12;", "u64", two32[:1], func(a, _, _ uint64) uint64 { return uint64(sx(a, 32) * -12) }},
		{"mul.wide.u16 %d, %s0, %s1;", "u32", two16, func(a, b, _ uint64) uint64 { return a * b }},
		{"mul.wide.s16 %d, %s0, %s1;", "u32", two16, func(a, b, _ uint64) uint64 { return uint64(sx(a, 16) * sx(b, 16)) }},
		{"mad.lo.s32 %d, %s0, %s1, %s2;", "u32", three32, func(a, b, c uint64) uint64 { return a*b + c }},
		{"mad.hi.u32 %d, %s0, %s1, %s2;", "u32", three32, func(a, b, c uint64) uint64 { return bigHi(a, b, 32, false) + c }},
		{"mad.hi.sat.s32 %d, %s0, %s1, %s2;", "u32", three32, func(a, b, c uint64) uint64 {
			return uint64(max(min(int64(int32(bigHi(a, b, 32, true)))+sx(c, 32), 1<<31-1), -1<<31))
		}},
		{"mad.wide.s32 %d, %s0, %s1, %s2;", "u64", []string{"u32", "u32", "u64"}, func(a, b, c uint64) uint64 { return uint64(sx(a, 32)*sx(b, 32)) + c }},
		{"mad.lo.s64 %d, %s0, %s1, %s2;", "u64", []string{"u64", "u64", "u64"}, func(a, b, c uint64) uint64 { return a*b + c }},
		{"mul24.lo.s32 %d, %s0, %s1;", "u32", two32, func(a, b, _ uint64) uint64 { return uint64(sx(a, 24) * sx(b, 24)) }},
		{"mul24.hi.u32 %d, %s0, %s1;", "u32", two32, func(a, b, _ uint64) uint64 { return (a & 0xffffff) * (b & 0xffffff) >> 16 }},
		{"sad.s32 %d, %s0, %s1, %s2;", "u32", three32, func(a, b, c uint64) uint64 {
			return c + uint64(max(sx(a, 32), sx(b, 32))-min(sx(a, 32), sx(b, 32)))
		}},
		{"sad.u16 %d, %s0, %s1, %s2;", "u16", []string{"u16", "u16", "u16"}, func(a, b, c uint64) uint64 { return c + max(a, b) - min(a, b) }},
		{"div.s32 %d, %s0, %s1;", "u32", two32, func(a, b, _ uint64) uint64 {
			if b == 0 {
				return ^uint64(0)
			}
			return uint64(sx(a, 32) / sx(b, 32))
		}},
		{"div.u64 %d, %s0, %s1;", "u64", two64, func(a, b, _ uint64) uint64 {
			if b == 0 {
				return ^uint64(0)
			}
			return a / b
		}},
		{"rem.s32 %d, %s0, %s1;", "u32", two32, func(a, b, _ uint64) uint64 {
			if b == 0 {
				return a
			}
			return uint64(sx(a, 32) % sx(b, 32))
		}},
		{"rem.s64 %d, %s0, %s1;", "u64", two64, func(a, b, _ uint64) uint64 {
			switch int64(b) {
			case 0:
				return a
			case -1:
				return 0
			}
			return uint64(int64(a) % int64(b))
		}},
		{"rem.u16 %d, %s0, %s1;", "u16", two16, func(a, b, _ uint64) uint64 {
			if b == 0 {
				return a
			}
			return a % b
		}},
		{"abs.s32 %d, %s0;", "u32", two32[:1], func(a, _, _ uint64) uint64 { return uint64(max(sx(a, 32), -sx(a, 32))) }},
		{"abs.s16 %d, %s0;", "u16", two16[:1], func(a, _, _ uint64) uint64 { return uint64(max(sx(a, 16), -sx(a, 16))) }},
		{"neg.s64 %d, %s0;", "u64", two64[:1], func(a, _, _ uint64) uint64 { return -a }},
		{"min.s32 %d, %s0, %s1;", "u32", two32, func(a, b, _ uint64) uint64 { return uint64(min(sx(a, 32), sx(b, 32))) }},
		{"max.u64 %d, %s0, %s1;", "u64", two64, func(a, b, _ uint64) uint64 { return max(a, b) }},
		{"min.s16 %d, %s0, %s1;", "u16", two16, func(a, b, _ uint64) uint64 { return uint64(min(sx(a, 16), sx(b, 16))) }},
		{"max.s16x2 %d, %s0, %s1;", "u32", two32, func(a, b, _ uint64) uint64 {
			return uint64(max(sx(a>>16, 16), sx(b>>16, 16)))<<16 | uint64(max(sx(a, 16), sx(b, 16)))&0xffff
		}},
		{"add.s16x2 %d, %s0, %s1;", "u32", two32, func(a, b, _ uint64) uint64 { return (a>>16+b>>16)<<16 | (a+b)&0xffff }},
		{"max.s32.relu %d, %s0, %s1;", "u32", two32, func(a, b, _ uint64) uint64 { return uint64(max(sx(a, 32), sx(b, 32), 0)) }},
		{"min.s16x2.relu %d, %s0, %s1;", "u32", two32, func(a, b, _ uint64) uint64 {
			return uint64(max(min(sx(a>>16, 16), sx(b>>16, 16)), 0))<<16 | uint64(max(min(sx(a, 16), sx(b, 16)), 0))
		}},
		{"vabsdiff4.u32.u32.u32 %d, %s0, %s1, %s2;", "u32", three32, func(a, b, _ uint64) (r uint64) {
			for s := 0; s < 32; s += 8 {
				x, y := a>>s&0xff, b>>s&0xff
				r |= (max(x, y) - min(x, y)) << s
			}
			return r
		}},
		{"vabsdiff4.u32.u32.u32.add %d, %s0, %s1, %s2;", "u32", three32, func(a, b, c uint64) uint64 {
			for s := 0; s < 32; s += 8 {
				x, y := a>>s&0xff, b>>s&0xff
				c += max(x, y) - min(x, y)
			}
			return c
		}},
		{"dp4a.s32.u32 %d, %s0, %s1, %s2;", "u32", three32, func(a, b, c uint64) uint64 {
			for s := 0; s < 32; s += 8 {
				c += uint64(sx(a>>s, 8) * int64(b>>s&0xff))
			}
			return c
		}},
		{"dp2a.hi.u32.s32 %d, %s0, %s1, %s2;", "u32", three32, func(a, b, c uint64) uint64 {
			return c + uint64(int64(a&0xffff)*sx(b>>16, 8)+int64(a>>16)*sx(b>>24, 8))
		}},
		{"slct.u32.s32 %d, %s0, %s1, %s2;", "u32", three32, func(a, b, c uint64) uint64 {
			if sx(c, 32) >= 0 {
				return a
			}
			return b
		}},
		{".reg .b32 %lo, %hi;\nadd.cc.u32 %lo, %s0, %s1;\naddc.u32 %d, %s2, 0;", "u32", three32, func(a, b, c uint64) uint64 { return c + (a+b)>>32 }},
		{".reg .b32 %lo;\nsub.cc.u32 %lo, %s0, %s1;\nsubc.u32 %d, %s2, 0;", "u32", three32, func(a, b, c uint64) uint64 { return c - b2u(a < b) }},
		{".reg .b64 %lo;\nadd.cc.u64 %lo, %s0, %s1;\naddc.u64 %d, %s1, %s0;", "u64", two64, func(a, b, _ uint64) uint64 {
			_, c := bits.Add64(a, b, 0)
			return a + b + c
		}},
		{".reg .b32 %lo;\nmad.lo.cc.u32 %lo, %s0, %s1, %s2;\nmadc.hi.u32 %d, %s0, %s1, 0;", "u32", three32, func(a, b, c uint64) uint64 { return (a*b + c) >> 32 }},
	})
}

func TestBitOps(t *testing.T) {
	one32, two32, three32 := []string{"u32"}, []string{"u32", "u32"}, []string{"u32", "u32", "u32"}
	one64 := []string{"u64"}
	checkOps(t, []opCase{
		{"and.b32 %d, %s0, %s1;", "u32", two32, func(a, b, _ uint64) uint64 { return a & b }},
		{"xor.b64 %d, %s0, %s1;", "u64", []string{"u64", "u64"}, func(a, b, _ uint64) uint64 { return a ^ b }},
		{"not.b16 %d, %s0;", "u16", []string{"u16"}, func(a, _, _ uint64) uint64 { return ^a }},
		{"cnot.b32 %d, %s0;", "u32", one32, func(a, _, _ uint64) uint64 { return b2u(a == 0) }},
		{"lop3.b32 %d, %s0, %s1, %s2, 0xCA;", "u32", three32, func(a, b, c uint64) uint64 { return a&b | ^a&c }},
		{"lop3.b32 %d, %s0, %s1, %s2, 0x96;", "u32", three32, func(a, b, c uint64) uint64 { return a ^ b ^ c }},
		{"lop3.b32 %d, %s0, %s1, %s2, 0x1D;", "u32", three32, func(a, b, c uint64) uint64 {
			var d uint64
			for i := 0; i < 32; i++ {
				d |= 0x1d >> (4*(a>>i&1) + 2*(b>>i&1) + c>>i&1) & 1 << i
			}
			return d
		}},
		{"shl.b32 %d, %s0, %s1;", "u32", two32, func(a, b, _ uint64) uint64 { return a << b }},
		{"shl.b64 %d, %s0, %s1;", "u64", []string{"u64", "u32"}, func(a, b, _ uint64) uint64 { return a << b }},
		{"shl.b16 %d, %s0, %s1;", "u16", []string{"u16", "u32"}, func(a, b, _ uint64) uint64 { return a << b }},
		{"shr.s32 %d, %s0, %s1;", "u32", two32, func(a, b, _ uint64) uint64 { return uint64(sx(a, 32) >> b) }},
		{"shr.u64 %d, %s0, %s1;", "u64", []string{"u64", "u32"}, func(a, b, _ uint64) uint64 { return a >> b }},
		{"shr.s64 %d, %s0, 7;", "u64", one64, func(a, _, _ uint64) uint64 { return uint64(int64(a) >> 7) }},
		{"shr.s16 %d, %s0, %s1;", "u16", []string{"u16", "u32"}, func(a, b, _ uint64) uint64 { return uint64(sx(a, 16) >> b) }},
		{"shf.l.clamp.b32 %d, %s0, %s1, %s2;", "u32", three32, func(a, b, c uint64) uint64 { return (b<<32 | a) << min(c, 32) >> 32 }},
		{"shf.r.wrap.b32 %d, %s0, %s1, %s2;", "u32", three32, func(a, b, c uint64) uint64 { return (b<<32 | a) >> (c & 31) }},
		{"bfe.u32 %d, %s0, %s1, %s2;", "u32", three32, func(a, b, c uint64) uint64 { return slowExtract(a, b, c, 32, false) }},
		{"bfe.s32 %d, %s0, %s1, %s2;", "u32", three32, func(a, b, c uint64) uint64 { return slowExtract(a, b, c, 32, true) }},
		{"bfe.s64 %d, %s0, %s1, %s2;", "u64", []string{"u64", "u32", "u32"}, func(a, b, c uint64) uint64 { return slowExtract(a, b, c, 64, true) }},
		{"bfi.b32 %d, %s0, %s1, %s2, 9;", "u32", three32, func(a, b, c uint64) uint64 { return slowInsert(a, b, c, 9, 32) }},
		{"bfi.b64 %d, %s0, %s1, %s2, 40;", "u64", []string{"u64", "u64", "u32"}, func(a, b, c uint64) uint64 { return slowInsert(a, b, c, 40, 64) }},
		{"bfind.u32 %d, %s0;", "u32", one32, func(a, _, _ uint64) uint64 { return uint64(bits.Len64(a) - 1) }},
		{"bfind.shiftamt.s64 %d, %s0;", "u32", one64, func(a, _, _ uint64) uint64 {
			if int64(a) < 0 {
				a = ^a
			}
			if a == 0 {
				return ^uint64(0)
			}
			return uint64(bits.LeadingZeros64(a))
		}},
		{"brev.b32 %d, %s0;", "u32", one32, func(a, _, _ uint64) uint64 { return uint64(bits.Reverse32(uint32(a))) }},
		{"clz.b64 %d, %s0;", "u32", one64, func(a, _, _ uint64) uint64 { return uint64(bits.LeadingZeros64(a)) }},
		{"clz.b32 %d, %s0;", "u32", one32, func(a, _, _ uint64) uint64 { return uint64(bits.LeadingZeros32(uint32(a))) }},
		{"popc.b64 %d, %s0;", "u32", one64, func(a, _, _ uint64) uint64 { return uint64(bits.OnesCount64(a)) }},
		{"szext.clamp.s32 %d, %s0, %s1;", "u32", two32, func(a, b, _ uint64) uint64 {
			switch {
			case b == 0:
				return 0
			case b >= 32:
				return a
			}
			return uint64(sx(a, uint(b)))
		}},
		{"bmsk.clamp.b32 %d, %s0, %s1;", "u32", two32, func(a, b, _ uint64) uint64 { return (1<<min(b, 32) - 1) << min(a, 32) }},
		{"prmt.b32 %d, %s0, %s1, %s2;", "u32", three32, slowPrmt},
		{"prmt.b32.ecl %d, %s0, %s1, %s2;", "u32", three32, func(a, b, c uint64) uint64 {
			sel := [4]uint64{0x3210, 0x3211, 0x3222, 0x3333}
			return slowPrmt(a, b, sel[c&3])
		}},
		{"prmt.b32.b4e %d, %s0, %s1, %s2;", "u32", three32, func(a, b, c uint64) uint64 {
			sel := [4]uint64{0x5670, 0x6701, 0x7012, 0x0123}
			return slowPrmt(a, b, sel[c&3])
		}},
		{".reg .b32 %x, %y;\nmov.b64 {%x, %y}, %s0;\nmov.b64 %d, {%y, %x};", "u64", one64, func(a, _, _ uint64) uint64 { return a<<32 | a>>32 }},
		{"selp.b64 %d, %s0, %s1, %s2;", "u64", []string{"u64", "u64", "pred"}, func(a, b, c uint64) uint64 {
			if c != 0 {
				return a
			}
			return b
		}},
		{"xor.pred %d, %s0, %s1;", "pred", []string{"pred", "pred"}, func(a, b, _ uint64) uint64 { return a ^ b }},
		{"not.pred %d, %s0;", "pred", []string{"pred"}, func(a, _, _ uint64) uint64 { return a ^ 1 }},
		{"setp.lt.and.s32 %d, %s0, %s1, %s2;", "pred", []string{"u32", "u32", "pred"}, func(a, b, c uint64) uint64 { return b2u(sx(a, 32) < sx(b, 32)) & c }},
		{"setp.hs.u64 %d, %s0, %s1;", "pred", []string{"u64", "u64"}, func(a, b, _ uint64) uint64 { return b2u(a >= b) }},
		{"setp.gt.s16 %d, %s0, %s1;", "pred", []string{"u16", "u16"}, func(a, b, _ uint64) uint64 { return b2u(sx(a, 16) > sx(b, 16)) }},
		{".reg .pred %q;\nsetp.le.or.u32 %q|%d, %s0, %s1, !%s2;", "pred", []string{"u32", "u32", "pred"}, func(a, b, c uint64) uint64 { return b2u(a > b) | (c ^ 1) }},
		{"set.lt.u32.s32 %d, %s0, %s1;", "u32", two32, func(a, b, _ uint64) uint64 { return -b2u(sx(a, 32) < sx(b, 32)) }},
	})
}

// slowExtract is bfe as the PTX ISA's pseudocode.
func slowExtract(a, b, c uint64, w uint64, signed bool) uint64 {
	pos, n, msb := b&0xff, c&0xff, w-1
	sign := uint64(0)
	if signed && n != 0 {
		sign = a >> min(pos+n-1, msb) & 1
	}
	var d uint64
	for i := uint64(0); i <= msb; i++ {
		bit := sign
		if i < n && pos+i <= msb {
			bit = a >> (pos + i) & 1
		}
		d |= bit << i
	}
	return d
}

// slowInsert is bfi as the PTX ISA's pseudocode.
func slowInsert(a, b, c, d, w uint64) uint64 {
	pos, n := c&0xff, d&0xff
	f := b
	for i := uint64(0); i < n && pos+i < w; i++ {
		f = f&^(1<<(pos+i)) | a>>i&1<<(pos+i)
	}
	return f
}

func slowPrmt(a, b, c uint64) uint64 {
	v := b<<32 | a
	var d uint64
	for i := 0; i < 4; i++ {
		sel := c >> (4 * i) & 0xf
		byt := v >> (8 * (sel & 7)) & 0xff
		if sel&8 != 0 {
			byt = 0xff * (byt >> 7)
		}
		d |= byt << (8 * i)
	}
	return d
}
