package exec

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/warptune/warptune/simengine/exec/alu"
)

// binary is a floating-point format described apart from the code under test.
type binaryFormat struct {
	typ      string
	prec     int // bits of significand, the hidden one included
	emin     int
	largest  float64
	value    func(uint64) float64
	smallest float64 // least normal number
}

var binaryFormats = []binaryFormat{
	{"f32", 24, -126, math.MaxFloat32, func(v uint64) float64 { return float64(math.Float32frombits(uint32(v))) }, 0x1p-126},
	{"f64", 53, -1022, math.MaxFloat64, math.Float64frombits, 0x1p-1022},
	{"f16", 11, -14, 65504, halfValue, 0x1p-14},
	{"bf16", 8, -126, 0x1.fep127, func(v uint64) float64 { return float64(math.Float32frombits(uint32(v) << 16)) }, 0x1p-126},
}

func halfValue(v uint64) float64 {
	sign := 1.0
	if v&0x8000 != 0 {
		sign = -1
	}
	e, m := int(v>>10&31), float64(v&1023)
	switch e {
	case 31:
		if m != 0 {
			return math.NaN()
		}
		return sign * math.Inf(1)
	case 0:
		return sign * math.Ldexp(m, -24)
	}
	return sign * math.Ldexp(1024+m, e-25)
}

// round rounds an exact value to the format.
func (f *binaryFormat) round(x *big.Float, mode string) float64 {
	if x.Sign() == 0 {
		return 0
	}
	e := max(x.MantExp(nil)-1, f.emin) - (f.prec - 1)
	scaled := new(big.Float).SetPrec(5000).SetMantExp(x, -e)
	floor, acc := scaled.Int(nil) // towards zero
	if acc == big.Above {         // a negative value was rounded up
		floor.Sub(floor, big.NewInt(1))
	}
	rest := new(big.Float).SetPrec(5000).Sub(scaled, new(big.Float).SetPrec(5000).SetInt(floor))
	half := rest.Cmp(big.NewFloat(0.5))
	up := false
	switch mode {
	case "rn":
		up = half > 0 || half == 0 && floor.Bit(0) == 1
	case "rp":
		up = rest.Sign() > 0
	case "rz":
		up = rest.Sign() > 0 && x.Sign() < 0
	}
	if up {
		floor.Add(floor, big.NewInt(1))
	}
	v, _ := new(big.Float).SetMantExp(new(big.Float).SetPrec(5000).SetInt(floor), e).Float64()
	if math.Abs(v) > f.largest {
		if mode == "rz" || mode == "rm" && v > 0 || mode == "rp" && v < 0 {
			return math.Copysign(f.largest, v)
		}
		return math.Copysign(math.Inf(1), v)
	}
	return v
}

func exactBig(v float64) *big.Float { return new(big.Float).SetPrec(5000).SetFloat64(v) }

// floatCase is an operation: native handles NaN, infinities and zeros.
type floatCase struct {
	name   string
	n      int
	exact  func(a, b, c *big.Float) *big.Float
	native func(a, b, c float64) float64
	modes  []string
	types  []string
}

var floatCases = []floatCase{
	{"add", 2, func(a, b, _ *big.Float) *big.Float { return new(big.Float).SetPrec(5000).Add(a, b) },
		func(a, b, _ float64) float64 { return a + b }, []string{"rn", "rz", "rm", "rp"}, []string{"f32", "f64"}},
	{"sub", 2, func(a, b, _ *big.Float) *big.Float { return new(big.Float).SetPrec(5000).Sub(a, b) },
		func(a, b, _ float64) float64 { return a - b }, []string{"rn"}, []string{"f32", "f64", "f16", "bf16"}},
	{"mul", 2, func(a, b, _ *big.Float) *big.Float { return new(big.Float).SetPrec(5000).Mul(a, b) },
		func(a, b, _ float64) float64 { return a * b }, []string{"rn", "rz", "rm", "rp"}, []string{"f32", "f64"}},
	{"mul", 2, func(a, b, _ *big.Float) *big.Float { return new(big.Float).SetPrec(5000).Mul(a, b) },
		func(a, b, _ float64) float64 { return a * b }, []string{"rn"}, []string{"f16", "bf16"}},
	{"fma", 3, func(a, b, c *big.Float) *big.Float {
		p := new(big.Float).SetPrec(5000).Mul(a, b)
		return p.Add(p, c)
	}, math.FMA, []string{"rn", "rz", "rm", "rp"}, []string{"f32", "f64"}},
	{"fma", 3, func(a, b, c *big.Float) *big.Float {
		p := new(big.Float).SetPrec(5000).Mul(a, b)
		return p.Add(p, c)
	}, math.FMA, []string{"rn"}, []string{"f16", "bf16"}},
	{"div", 2, func(a, b, _ *big.Float) *big.Float { return new(big.Float).SetPrec(5000).Quo(a, b) },
		func(a, b, _ float64) float64 { return a / b }, []string{"rn", "rz", "rm", "rp"}, []string{"f32", "f64"}},
	{"sqrt", 1, func(a, _, _ *big.Float) *big.Float { return new(big.Float).SetPrec(5000).Sqrt(a) },
		func(a, _, _ float64) float64 { return math.Sqrt(a) }, []string{"rn", "rz", "rp"}, []string{"f32", "f64"}},
	{"rcp", 1, func(a, _, _ *big.Float) *big.Float { return new(big.Float).SetPrec(5000).Quo(exactBig(1), a) },
		func(a, _, _ float64) float64 { return 1 / a }, []string{"rn", "rm"}, []string{"f32", "f64"}},
}

func finite(v float64) bool { return v-v == 0 }

// reference is the operation's result in the format.
func (c *floatCase) reference(f *binaryFormat, mode string, a, b, d float64) float64 {
	n := c.native(a, b, d)
	if n != n || !finite(a) || c.n > 1 && !finite(b) || c.n > 2 && !finite(d) ||
		(c.name == "div" && b == 0) || (c.name == "rcp" && a == 0) {
		return n
	}
	return f.round(c.exact(exactBig(a), exactBig(b), exactBig(d)), mode)
}

func TestFloatRounding(t *testing.T) {
	for _, c := range floatCases {
		for _, typ := range c.types {
			f := &binaryFormats[0]
			for i := range binaryFormats {
				if binaryFormats[i].typ == typ {
					f = &binaryFormats[i]
				}
			}
			for _, mode := range c.modes {
				c.check(t, f, mode)
			}
		}
	}
}

func (c *floatCase) check(t *testing.T, f *binaryFormat, mode string) {
	body := c.name + "." + mode + "." + f.typ + " %d"
	var srcs []string
	for s := 0; s < c.n; s++ {
		body += fmt.Sprintf(", %%s%d", s)
		srcs = append(srcs, f.typ)
	}
	body += ";"
	rows := floatOperands(rand.New(rand.NewPCG(opSeed, 7)), f)
	got := runOp(t, body, f.typ, srcs, rows)
	for i, row := range rows {
		var v [3]float64
		for s := range v[:c.n] {
			v[s] = f.value(lowBits(row[s], f.typ))
		}
		g, want := f.value(lowBits(got[i], f.typ)), c.reference(f, mode, v[0], v[1], v[2])
		if g != want && (g == g || want == want) {
			t.Errorf("%s of %x = %x, want %x (seed %d)", body, v[:c.n], g, want, opSeed)
			return
		}
	}
}

// floatOperands mixes arbitrary bits with numbers of near exponents, whose
// sums and products fall between representable ones.
func floatOperands(r *rand.Rand, f *binaryFormat) [][3]uint64 {
	rows := operands(r, 800)
	_, size := regClass(f.typ)
	width := 8 * size
	for i := range rows {
		if i%2 == 0 {
			continue
		}
		man := f.prec - 1
		bias := uint64(1)<<(width-1-man-1) - 1
		for s := range rows[i] {
			e := bias + uint64(r.IntN(2*f.prec)) - uint64(f.prec)
			if i%8 == 1 { // results near the subnormals
				e = bias/2 + uint64(r.IntN(8))
			}
			rows[i][s] = r.Uint64()&(1<<man-1)>>r.IntN(3)<<r.IntN(3)&(1<<man-1) | e<<man | uint64(r.IntN(2))<<(width-1)
		}
	}
	return rows
}

func TestFloatModifiers(t *testing.T) {
	f := func(v uint64) float32 { return math.Float32frombits(uint32(v)) }
	u := func(v float32) uint64 {
		if v != v {
			return 0x7fffffff
		}
		return uint64(math.Float32bits(v))
	}
	flush := func(v float32) float32 {
		if math.Abs(float64(v)) < 0x1p-126 {
			return float32(math.Copysign(0, float64(v)))
		}
		return v
	}
	two := []string{"f32", "f32"}
	checkOps(t, []opCase{
		{"add.rn.ftz.f32 %d, %s0, %s1;", "f32", two, func(a, b, _ uint64) uint64 { return u(flush(flush(f(a)) + flush(f(b)))) }},
		{"mul.rn.sat.f32 %d, %s0, %s1;", "f32", two, func(a, b, _ uint64) uint64 {
			v := f(a) * f(b)
			switch {
			case !(v > 0):
				return 0
			case v > 1:
				v = 1
			}
			return u(v)
		}},
		{"min.xorsign.abs.f32 %d, %s0, %s1;", "f32", two, func(a, b, _ uint64) uint64 { return xorSigned(a, b, false, false) }},
		{"max.ftz.NaN.xorsign.abs.f32 %d, %s0, %s1;", "f32", two, func(a, b, _ uint64) uint64 { return xorSigned(u(flush(f(a))), u(flush(f(b))), true, true) }},
		{"min.f32 %d, %s0, %s1;", "f32", two, func(a, b, _ uint64) uint64 { return u(minMax(f(a), f(b), false, false)) }},
		{"max.NaN.f32 %d, %s0, %s1;", "f32", two, func(a, b, _ uint64) uint64 { return u(minMax(f(a), f(b), true, true)) }},
		{"neg.f32 %d, %s0;", "f32", two[:1], func(a, _, _ uint64) uint64 { return a ^ 1<<31 }},
		{"abs.f64 %d, %s0;", "f64", []string{"f64"}, func(a, _, _ uint64) uint64 { return a &^ (1 << 63) }},
		{"neg.f16 %d, %s0;", "f16", []string{"f16"}, func(a, _, _ uint64) uint64 { return a ^ 1<<15 }},
		{"copysign.f32 %d, %s0, %s1;", "f32", two, func(a, b, _ uint64) uint64 { return a&(1<<31) | b&^(1<<31) }},
		{"setp.ltu.f32 %d, %s0, %s1;", "pred", two, func(a, b, _ uint64) uint64 { return b2u(!(f(a) >= f(b))) }},
		{"setp.ne.f32 %d, %s0, %s1;", "pred", two, func(a, b, _ uint64) uint64 {
			return b2u(f(a) < f(b) || f(a) > f(b))
		}},
		{"setp.num.f64 %d, %s0, %s1;", "pred", []string{"f64", "f64"}, func(a, b, _ uint64) uint64 {
			x, y := math.Float64frombits(a), math.Float64frombits(b)
			return b2u(x == x && y == y)
		}},
		{"testp.subnormal.f32 %d, %s0;", "pred", two[:1], func(a, _, _ uint64) uint64 { return b2u(f(a) != 0 && flush(f(a)) == 0) }},
		{"testp.infinite.f32 %d, %s0;", "pred", two[:1], func(a, _, _ uint64) uint64 { return b2u(a&^(1<<31) == 0x7f800000) }},
		{"fma.rn.f16x2 %d, %s0, %s1, %s2;", "u32", []string{"u32", "u32", "u32"}, func(a, b, c uint64) uint64 {
			var d uint64
			for s := 0; s < 32; s += 16 {
				h := &binaryFormats[2]
				x, y, z := halfValue(a>>s&0xffff), halfValue(b>>s&0xffff), halfValue(c>>s&0xffff)
				d |= halfBits((&floatCases[4]).reference(h, "rn", x, y, z), math.FMA(x, y, z)) << s
			}
			return d
		}},
		{"ex2.approx.f32 %d, %s0;", "f32", two[:1], func(a, _, _ uint64) uint64 { return u(float32(math.Exp2(float64(f(a))))) }},
		{"slct.f32.f32 %d, %s0, %s1, %s2;", "f32", []string{"f32", "f32", "f32"}, func(a, b, c uint64) uint64 {
			if f(c) >= 0 {
				return a
			}
			return b
		}},
	})
}

func minMax(a, b float32, max, nan bool) float32 {
	switch {
	case a != a && b != b, nan && (a != a || b != b):
		return float32(math.NaN())
	case a != a:
		return b
	case b != b:
		return a
	case max:
		return float32(math.Max(float64(a), float64(b)))
	}
	return float32(math.Min(float64(a), float64(b)))
}

// xorSigned is min.xorsign.abs or max.xorsign.abs of two floats given as bits.
func xorSigned(a, b uint64, max, nan bool) uint64 {
	const sign = 1 << 31
	m := minMax(math.Float32frombits(uint32(a&^sign)), math.Float32frombits(uint32(b&^sign)), max, nan)
	if m != m {
		return 0x7fffffff
	}
	return uint64(math.Float32bits(m)) | (a^b)&sign
}

// halfBits encodes a value that a half can hold; sign tells the sign of zero.
func halfBits(v, sign float64) uint64 {
	if v != v {
		return 0x7fff
	}
	for bits := uint64(0); bits <= 0x7c00; bits++ {
		if halfValue(bits) == math.Abs(v) {
			if math.Signbit(v) || v == 0 && math.Signbit(sign) {
				bits |= 0x8000
			}
			return bits
		}
	}
	panic("not a half")
}

func TestConversions(t *testing.T) {
	f := func(v uint64) float64 { return float64(math.Float32frombits(uint32(v))) }
	clampTo := func(v, lo, hi float64) float64 { return math.Max(lo, math.Min(hi, v)) }
	single, double := &binaryFormats[0], &binaryFormats[1]
	u32 := func(v float64) uint64 {
		if v != v {
			return 0x7fffffff
		}
		return uint64(math.Float32bits(float32(v)))
	}
	checkOps(t, []opCase{
		{"cvt.s64.s32 %d, %s0;", "s64", []string{"s32"}, func(a, _, _ uint64) uint64 { return uint64(sx(a, 32)) }},
		{"cvt.u64.u32 %d, %s0;", "u64", []string{"u32"}, func(a, _, _ uint64) uint64 { return a }},
		{"cvt.u32.u64 %d, %s0;", "u32", []string{"u64"}, func(a, _, _ uint64) uint64 { return a }},
		// A source register may be wider than the source type: what is above is not looked at.
		{"cvt.s64.s32 %d, %s0;", "s64", []string{"s64"}, func(a, _, _ uint64) uint64 { return uint64(sx(a, 32)) }},
		{"cvt.u64.u32 %d, %s0;", "u64", []string{"u64"}, func(a, _, _ uint64) uint64 { return a & 0xffffffff }},
		{"cvt.s64.u16 %d, %s0;", "s64", []string{"u64"}, func(a, _, _ uint64) uint64 { return a & 0xffff }},
		{"cvt.rn.f64.s32 %d, %s0;", "f64", []string{"s64"}, func(a, _, _ uint64) uint64 { return math.Float64bits(float64(sx(a, 32))) }},
		{"cvt.rn.f64.u32 %d, %s0;", "f64", []string{"u64"}, func(a, _, _ uint64) uint64 { return math.Float64bits(float64(a & 0xffffffff)) }},
		{"cvt.s32.s8 %d, %s0;", "s32", []string{"s32"}, func(a, _, _ uint64) uint64 { return uint64(sx(a, 8)) }},
		{"cvt.u32.u16 %d, %s0;", "u32", []string{"u16"}, func(a, _, _ uint64) uint64 { return a }},
		{"cvt.s64.s8 %d, %s0;", "s64", []string{"s32"}, func(a, _, _ uint64) uint64 { return uint64(sx(a, 8)) }},
		{"cvt.s8.s32 %d, %s0;", "s32", []string{"s32"}, func(a, _, _ uint64) uint64 { return uint64(sx(a, 8)) }},
		{"cvt.sat.u8.s32 %d, %s0;", "u32", []string{"s32"}, func(a, _, _ uint64) uint64 { return uint64(max(0, min(255, sx(a, 32)))) }},
		{"cvt.sat.s16.u64 %d, %s0;", "s32", []string{"u64"}, func(a, _, _ uint64) uint64 { return min(a, 0x7fff) }},
		{"cvt.rzi.s32.f32 %d, %s0;", "s32", []string{"f32"}, func(a, _, _ uint64) uint64 {
			v := f(a)
			if v != v {
				return 0
			}
			return uint64(int64(clampTo(math.Trunc(v), -1<<31, 1<<31-1)))
		}},
		{"cvt.rni.u32.f32 %d, %s0;", "u32", []string{"f32"}, func(a, _, _ uint64) uint64 {
			v := f(a)
			if v != v {
				return 0
			}
			return uint64(clampTo(math.RoundToEven(v), 0, 1<<32-1))
		}},
		{"cvt.rmi.s64.f64 %d, %s0;", "s64", []string{"f64"}, func(a, _, _ uint64) uint64 {
			v := math.Floor(math.Float64frombits(a))
			switch {
			case v != v:
				return 1 << 63
			case v >= 1<<63:
				return 1<<63 - 1
			case v < -1<<63:
				return 1 << 63
			}
			return uint64(int64(v))
		}},
		{"cvt.rpi.f32.f32 %d, %s0;", "f32", []string{"f32"}, func(a, _, _ uint64) uint64 { return u32(math.Ceil(f(a))) }},
		{"cvt.rn.f32.s32 %d, %s0;", "f32", []string{"s32"}, func(a, _, _ uint64) uint64 { return u32(single.round(exactBig(float64(sx(a, 32))), "rn")) }},
		{"cvt.rz.f32.u64 %d, %s0;", "f32", []string{"u64"}, func(a, _, _ uint64) uint64 {
			return u32(single.round(new(big.Float).SetPrec(64).SetUint64(a), "rz"))
		}},
		{"cvt.rp.f32.s64 %d, %s0;", "f32", []string{"s64"}, func(a, _, _ uint64) uint64 {
			return u32(single.round(new(big.Float).SetPrec(64).SetInt64(int64(a)), "rp"))
		}},
		{"cvt.rm.f64.u64 %d, %s0;", "f64", []string{"u64"}, func(a, _, _ uint64) uint64 {
			return math.Float64bits(double.round(new(big.Float).SetPrec(64).SetUint64(a), "rm"))
		}},
		{"cvt.rn.f32.f64 %d, %s0;", "f32", []string{"f64"}, func(a, _, _ uint64) uint64 { return u32(math.Float64frombits(a)) }},
		{"cvt.rz.f32.f64 %d, %s0;", "f32", []string{"f64"}, func(a, _, _ uint64) uint64 {
			v := math.Float64frombits(a)
			if !finite(v) || v == 0 {
				return u32(v)
			}
			r := single.round(exactBig(v), "rz")
			return u32(math.Copysign(r, v))
		}},
		{"cvt.f64.f32 %d, %s0;", "f64", []string{"f32"}, func(a, _, _ uint64) uint64 {
			if v := f(a); v == v {
				return math.Float64bits(v)
			}
			return alu.CanonicalNaN64
		}},
		{"cvt.f32.f16 %d, %s0;", "f32", []string{"f16"}, func(a, _, _ uint64) uint64 { return u32(halfValue(a)) }},
		{"cvt.rn.f16.f32 %d, %s0;", "f16", []string{"f32"}, func(a, _, _ uint64) uint64 { return toHalf(f(a)) }},
		{"cvt.rn.f16x2.f32 %d, %s0, %s1;", "u32", []string{"f32", "f32"}, func(a, b, _ uint64) uint64 { return toHalf(f(a))<<16 | toHalf(f(b)) }},
		{"cvt.rn.bf16.f32 %d, %s0;", "bf16", []string{"f32"}, func(a, _, _ uint64) uint64 {
			if v := f(a); v != v {
				return 0x7fff
			}
			return (a + 0x7fff + a>>16&1) >> 16
		}},
	})
}

func toHalf(v float64) uint64 {
	if !finite(v) || v == 0 {
		return halfBits(v, v)
	}
	return halfBits(binaryFormats[2].round(exactBig(v), "rn"), v)
}
