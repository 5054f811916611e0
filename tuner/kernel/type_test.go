package kernel

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
	}{"bool": {Bool, 1}, "uint8": {Uint8, 1}, "int16": {Int16, 1}, "float": {Float, 1}, "float4": {Float, 4}, "double16": {Double, 16}, "half2": {Half, 2}, "int": {Int32, 1}} {
		if got, lanes, err := parseType(name); err != nil || got != want.t || lanes != want.lanes {
			t.Errorf("%s: %v %d %v", name, got, lanes, err)
		}
	}
	for _, name := range []string{"", "4", "float5", "float1", "uint8_2", "FLOAT", "invalid"} {
		if got, _, err := parseType(name); err == nil {
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
		if bits, ok := c.t.encode(false, 0, c.f); ok != c.ok || ok && bits != c.bits {
			t.Errorf("%v %g: %#x %v", c.t, c.f, bits, ok)
		}
	}
}
