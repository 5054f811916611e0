package opt

import "testing"

func TestNearestHalves(t *testing.T) {
	for v, want := range map[float32]uint16{
		0: 0, 1: 0x3c00, -2: 0xc000, 0.25: 0x3400, 65504: 0x7bff, 65520: 0x7c00, 1e9: 0x7c00,
		1.0 / 3: 0x3555, 6.1035156e-05: 0x0400, 5.9604645e-08: 0x0001, 2.9802322e-08: 0, 2.9802326e-08: 0x0001, 1e-9: 0,
		1 + 1.0/2048: 0x3c00, 1 + 3.0/2048: 0x3c02, 2047.5 / 1024: 0x4000,
	} {
		if got := halfOf(v); got != want {
			t.Errorf("%g is %#x as a half, want %#x", v, got, want)
		}
	}
	for v, want := range map[float32]uint16{0: 0, 1: 0x3f80, -0.5: 0xbf00, 1.00390625: 0x3f80, 1.01171875: 0x3f82} {
		if got := bfloatOf(v); got != want {
			t.Errorf("%g is %#x as a bfloat, want %#x", v, got, want)
		}
	}
}
