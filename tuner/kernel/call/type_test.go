package call

import (
	"math"
	"testing"
)

// halfValue decodes a half-precision number (IEEE 754 binary16).
func halfValue(h uint16) float64 {
	sign := 1.0
	if h&0x8000 != 0 {
		sign = -1
	}
	exp, man := int(h>>10&31), float64(h&0x3ff)
	switch exp {
	case 0:
		return sign * math.Ldexp(man, -24)
	case 31:
		return sign * math.Inf(1)
	}
	return sign * math.Ldexp(1024+man, exp-25)
}

// TestHalfBits: every number encodes to itself, every midpoint to its even
// neighbour, and what lies beside the midpoint to the nearer one.
func TestHalfBits(t *testing.T) {
	for h := uint16(0); h <= 0x7c00; h++ {
		f := halfValue(h)
		for _, sign := range []uint16{0, 0x8000} {
			if got := halfBits(float32(math.Copysign(f, 1-float64(sign)))); got != h|sign {
				t.Fatalf("%g encodes to %#x, not %#x", f, got, h|sign)
			}
		}
		if h >= 0x7bff {
			continue
		}
		mid := float32((f + halfValue(h+1)) / 2)
		even := h + h&1
		below, above := math.Nextafter32(mid, 0), math.Nextafter32(mid, 1e9)
		if halfBits(mid) != even || halfBits(below) != h || halfBits(above) != h+1 {
			t.Fatalf("around %g: %#x %#x %#x", mid, halfBits(below), halfBits(mid), halfBits(above))
		}
	}
	if halfBits(65519) != 0x7bff || halfBits(65520) != 0x7c00 || halfBits(float32(math.NaN()))&0x7fff <= 0x7c00 {
		t.Error("the ends of the range")
	}
}

func TestTypes(t *testing.T) {
	for name, want := range map[string]struct {
		t     Type
		lanes int
	}{"bool": {Bool, 1}, "uint8": {Uint8, 1}, "int16": {Int16, 1}, "float": {Float, 1}, "float4": {Float, 4}, "double16": {Double, 16}, "half2": {Half, 2}, "int": {Int32, 1},
		"int3": {Int32, 3}, "uchar4": {Uint8, 4}, "longlong2": {Int64, 2}, "float16": {Float, 16}, "bfloat16": {Bfloat16, 1}, "bfloat162": {Bfloat16, 2}, "float8_e5m24": {Float8E5M2, 4}} {
		if got, lanes, err := ParseType(name); err != nil || got != want.t || lanes != want.lanes {
			t.Errorf("%s: %v %d %v", name, got, lanes, err)
		}
	}
	for _, name := range []string{"", "4", "float5", "float1", "uint8_2", "FLOAT", "invalid", "int1", "int5", "float+2", "bool2", "int34"} {
		if got, _, err := ParseType(name); err == nil {
			t.Errorf("%s: %v", name, got)
		}
	}
	for _, c := range []struct {
		t    Type
		f    float64
		bits uint64
		ok   bool
	}{
		{Int8, -128, 0x80, true}, {Int8, 128, 0, false}, {Uint16, 65535, 0xffff, true}, {Uint16, -1, 0, false}, {Int64, -1, math.MaxUint64, true},
		{Double, 1, 0x3ff0000000000000, true}, {Float, 1, 0x3f800000, true}, {Bool, 1, 1, true}, {Bool, 2, 0, false}, {Int32, 0.5, 0, false}, {TypeInvalid, 0, 0, false},
	} {
		if bits, ok := c.t.Encode(false, 0, c.f); ok != c.ok || ok && bits != c.bits {
			t.Errorf("%v %g: %#x %v", c.t, c.f, bits, ok)
		}
	}
}

// TestSmallFormats: every number of each format encodes to itself, and what lies halfway
// between two to the even one.
func TestSmallFormats(t *testing.T) {
	for typ, s := range smallFormats {
		for bits := range uint64(1) << (s.exponent + s.mantissa) {
			v := s.decode(bits)
			if math.IsNaN(v) {
				continue
			}
			if got := s.encode(v); got != bits && !math.IsInf(v, 1) {
				t.Fatalf("%v: %g encodes to %#x, not %#x", typ, v, got, bits)
			}
			if got := s.encode(-v); got != bits|1<<(s.exponent+s.mantissa) && !math.IsInf(v, 1) {
				t.Fatalf("%v: %g encodes to %#x", typ, -v, got)
			}
			next := s.decode(bits + 1)
			if math.IsNaN(next) || math.IsInf(next, 0) || bits+1 == 1<<(s.exponent+s.mantissa) {
				continue
			}
			if mid := (v + next) / 2; s.encode(mid) != bits+bits&1 || s.encode(math.Nextafter(mid, 0)) != bits || s.encode(math.Nextafter(mid, 1e40)) != bits+1 {
				t.Fatalf("%v: around %g", typ, mid)
			}
		}
	}
	for _, c := range []struct {
		t    Type
		f    float64
		bits uint64
	}{
		{Bfloat16, 1, 0x3f80}, {Bfloat16, 1e39, 0x7f80}, {Bfloat16, -3.4e38, 0xff80}, {Float8E4M3, 448, 0x7e}, {Float8E4M3, 1e9, 0x7e},
		{Float8E4M3, 1, 0x38}, {Float8E5M2, 1, 0x3c}, {Float8E5M2, 57344, 0x7b}, {Float8E5M2, 1e9, 0x7b}, {Float8E4M3, -0.001953125, 0x81},
	} {
		if got, ok := c.t.Encode(false, 0, c.f); !ok || got != c.bits {
			t.Errorf("%v %g: %#x, want %#x", c.t, c.f, got, c.bits)
		}
	}
}
