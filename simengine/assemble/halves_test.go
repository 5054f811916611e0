package assemble

import (
	"testing"

	"github.com/warptune/warptune/simengine/assemble/mir"
)

// Pairs of constants are part of the instruction that takes them.
func TestConstantHalves(t *testing.T) {
	for _, c := range []struct{ name, body string }{
		{"a pair converted", "mov.f32 %f4, 0f3F000000; mov.f32 %f5, 0fBE800000; cvt.rn.f16x2.f32 %r4, %f5, %f4; fma.rn.f16x2 %r5, %r5, %r2, %r4;"},
		{"two halves put together", "{.reg .b16 h; mov.f32 %f4, 0f3F000000; cvt.rn.f16.f32 h, %f4; mov.b32 %r4, {h, h};} fma.rn.f16x2 %r5, %r5, %r2, %r4;"},
	} {
		loopHas(t, c.name, loopText("mov.u32 %r5, 0;", c.body+" st.global.u32 [%rd3], %r5;"), map[mir.Op]int{mir.OpHFMA2: 1, mir.OpMOV: 0, mir.OpPRMT: 0, mir.OpHADD2: 0})
	}
}

// TestPickedHalves: what takes a half of a word is slower than what takes words on Hopper,
// and so are conversions of halves to single precision; before, it was not measured.
func TestPickedHalves(t *testing.T) {
	const loads = "ld.global.v2.b32 {%r4,%r6}, [%rd4]; ld.global.b32 %r7, [%rd5]; ld.global.u16 %h1, [%rd2]; "
	for _, c := range []struct {
		name, body string
		cc         [2]int
		picked     int
	}{
		{"words", "fma.rn.f16x2 %r7, %r4, %r6, %r7;", [2]int{9, 0}, 0},
		{"a half twice", "mov.b32 %r5, {%h1,%h1}; fma.rn.f16x2 %r7, %r5, %r6, %r7;", [2]int{9, 0}, 1},
		{"an upper half twice", "mov.b32 {%h2,%h3}, %r4; mov.b32 %r5, {%h3,%h3}; add.rn.f16x2 %r7, %r5, %r7;", [2]int{9, 0}, 1},
		{"two halves", "mov.b32 {%h2,%h3}, %r4; mov.b32 %r5, {%h1,%h3}; add.rn.f16x2 %r7, %r5, %r7;", [2]int{9, 0}, 0},
		{"a conversion", "cvt.f32.f16 %f1, %h1; mov.b32 %r7, %f1;", [2]int{9, 0}, 1},
		{"before Hopper", "mov.b32 %r5, {%h1,%h1}; fma.rn.f16x2 %r7, %r5, %r6, %r7;", [2]int{8, 6}, 0},
	} {
		if n := selectedOps(t, kernelOf(loads+c.body+" st.global.b32 [%rd5], %r7;"), c.cc); n[mir.OpHFMA2PICK] != c.picked {
			t.Errorf("%s: %d instructions take a half, want %d", c.name, n[mir.OpHFMA2PICK], c.picked)
		}
	}
}
