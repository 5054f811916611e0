package assemble

import (
	"testing"

	"github.com/warptune/warptune/simengine/assemble/mir"
)

// loadsTwo loads %f2 and %f3.
const loadsTwo = "ld.global.f32 %f2, [%rd3]; ld.global.f32 %f3, [%rd3+4];"

// Signs, absolute values and limits cost nothing where the instruction that takes or makes
// a number does them, and one instruction where none does.
func TestSignsAreFree(t *testing.T) {
	for _, c := range []struct {
		name, body       string
		adds, muls, fmas int
	}{
		{"a factor negated", "neg.f32 %f4, %f2; fma.rn.f32 %f1, %f4, %f3, %f1;", 0, 0, 1},
		{"an addend negated", "neg.f32 %f4, %f3; fma.rn.f32 %f1, %f1, %f2, %f4;", 0, 0, 1},
		{"twice", "neg.f32 %f4, %f2; neg.f32 %f5, %f4; add.rn.f32 %f1, %f1, %f5;", 1, 0, 0},
		{"for several", "neg.f32 %f4, %f2; mul.rn.f32 %f5, %f4, %f3; add.rn.f32 %f6, %f4, %f5; add.rn.f32 %f1, %f1, %f6;", 2, 1, 0},
		{"the absolute value of an addend", "abs.f32 %f4, %f2; add.rn.f32 %f1, %f1, %f4;", 1, 0, 0},
		{"of a factor in a multiply-add", "abs.f32 %f4, %f2; fma.rn.f32 %f1, %f4, %f3, %f1;", 1, 0, 1},
		{"a product negated becomes part of a sum", "mul.f32 %f4, %f2, %f3; neg.f32 %f5, %f4; add.f32 %f1, %f1, %f5;", 0, 0, 1},
		{"negated and chosen", "neg.f32 %f4, %f2; abs.f32 %f5, %f3; setp.lt.u32 %p2, %r2, %r3; selp.f32 %f6, %f4, %f5, %p2; add.rn.f32 %f1, %f1, %f6;", 1, 0, 0},
		{"negated for memory", "neg.f32 %f4, %f2; st.global.f32 [%rd3+8], %f4;", 1, 0, 0},
		{"cut to [0, 1]", "fma.rn.f32 %f4, %f2, %f3, %f1; cvt.sat.f32.f32 %f1, %f4;", 0, 0, 1},
		{"cut for one of two readers", "fma.rn.f32 %f4, %f2, %f3, %f1; cvt.sat.f32.f32 %f5, %f4; add.rn.f32 %f1, %f5, %f4;", 2, 0, 1},
	} {
		loopHas(t, c.name, loopText("", loadsTwo+c.body), map[mir.Op]int{mir.OpFADD: c.adds, mir.OpFMUL: c.muls, mir.OpFFMA: c.fmas})
	}
}

// A half is taken from its word by what reads it, from Volta on; what nobody reads is not
// brought anywhere.
func TestHalvesAreTakenFromTheirWords(t *testing.T) {
	for _, c := range []struct {
		name, body   string
		prmts, halfs int
	}{
		{"both converted", "{.reg .b16 l, h; mov.b32 {l, h}, %r4; cvt.f32.f16 %f2, l; cvt.f32.f16 %f3, h;} add.f32 %f4, %f2, %f3; add.f32 %f1, %f1, %f4;", 0, 2},
		{"one converted", "{.reg .b16 l, h; mov.b32 {l, h}, %r4; cvt.f32.f16 %f2, h;} add.f32 %f1, %f1, %f2;", 0, 1},
		{"one added", "{.reg .b16 l, h, m; mov.b32 {l, h}, %r4; add.f16 m, l, h; cvt.f32.f16 %f2, m;} add.f32 %f1, %f1, %f2;", 0, 2},
		{"one stored", "{.reg .b16 l, h; mov.b32 {l, h}, %r4; st.global.b16 [%rd3], h;}", 1, 0},
		{"of a word under a mask", "setp.ne.s32 %p2, %r2, 3; @%p2 ld.global.u32 %r4, [%rd3+8]; {.reg .b16 l, h; mov.b32 {l, h}, %r4; cvt.f32.f16 %f2, l; cvt.f32.f16 %f3, h;} add.f32 %f4, %f2, %f3; add.f32 %f1, %f1, %f4;", 0, 2},
		{"of a word that is another then", "{.reg .b16 l, h; mov.b32 {l, h}, %r4; ld.global.u32 %r4, [%rd3+8]; st.global.u32 [%rd3+4], %r4; cvt.f32.f16 %f2, l; cvt.f32.f16 %f3, h;} add.f32 %f4, %f2, %f3; add.f32 %f1, %f1, %f4;", 2, 2},
	} {
		loopHas(t, c.name, loopText("", "ld.global.u32 %r4, [%rd3]; "+c.body), map[mir.Op]int{mir.OpPRMT: c.prmts, mir.OpHFMA2PICK: c.halfs})
	}
}

// Of two constants the addend is part of the instruction; the other is brought to a
// register once for a block.
func TestConstantsOfMultiplyAdds(t *testing.T) {
	loopHas(t, "the factor, of two alike", loopText("", loadsTwo+"fma.rn.f32 %f4, %f2, 0f3BBB989D, 0f3F000000; fma.rn.f32 %f5, %f3, 0f3BBB989D, 0f3F000000; mul.f32 %f6, %f4, %f5; add.rn.f32 %f1, %f1, %f6;"), map[mir.Op]int{mir.OpMOV: 1})
}

// An approximate division by a constant is a product, which joins a sum; an exact one is not.
func TestApproximateDivisionByConstants(t *testing.T) {
	for _, c := range []struct {
		name, body       string
		mufu, muls, fmas int
	}{
		{"by three", "div.full.f32 %f4, %f2, 0f40400000; add.f32 %f1, %f1, %f4;", 0, 0, 1},
		{"by one", "div.approx.f32 %f4, %f2, 0f3F800000; mul.rn.f32 %f1, %f4, %f3;", 0, 1, 0},
		{"by what is not known", "div.approx.f32 %f4, %f2, %f3; add.f32 %f1, %f1, %f4;", 1, 1, 0},
	} {
		loopHas(t, c.name, loopText("", loadsTwo+c.body), map[mir.Op]int{mir.OpMUFU: c.mufu, mir.OpFMUL: c.muls, mir.OpFFMA: c.fmas})
	}
}

// A multiple that is taken away is a multiply-add with the factor negated.
func TestNegatedFactors(t *testing.T) {
	one := inLoop(t, loopText("", "mul.lo.s32 %r4, %r3, 3136; sub.s32 %r5, %r2, %r4; st.global.u32 [%rd3], %r5;"))
	if one[mir.OpIMAD] != 1 {
		t.Errorf("%d multiply-adds, want 1: %v", one[mir.OpIMAD], one)
	}
}

// What shared memory has no atomic for is a loop over a swap.
func TestSwaps(t *testing.T) {
	for _, c := range []struct {
		name, body string
		cc         [2]int
		loads      int
	}{
		{"a sum of floats", "atom.shared.add.f32 %f1, [s], %f2;", [2]int{9, 0}, 1},
		{"not asked for", "red.shared.add.f32 [s], %f2;", [2]int{8, 6}, 1},
		{"on Kepler", "red.shared.add.f32 [s], %f2;", [2]int{3, 5}, 0},
		{"of integers", "red.shared.add.u32 [s], %r1;", [2]int{9, 0}, 0},
		{"an exchange", "atom.shared.exch.b32 %r2, [s], %r1;", [2]int{9, 0}, 0},
	} {
		n := selectedOps(t, guardedText(c.body), c.cc)
		if n[mir.OpLDS] != c.loads || n[mir.OpATOMS] != 1 || n[mir.OpBSYNC] < c.loads {
			t.Errorf("%s: %d loads and %d atomics, want %d and one", c.name, n[mir.OpLDS], n[mir.OpATOMS], c.loads)
		}
		if p := must(t, guardedText(c.body), Options{CC: c.cc}); len(p.Swapped) != c.loads {
			t.Errorf("%s: swapped %v", c.name, p.Swapped)
		}
	}
}

// Elements of a vector store that a branch may leave as they were are computed in its
// registers, too.
func TestVectorStoresOfWhatChanges(t *testing.T) {
	src := loopText("", "mov.f32 %f2, 0f00000000; mov.f32 %f3, 0f00000000; setp.lt.s32 %p2, %r3, %r2; @%p2 ld.global.f32 %f2, [%rd3]; @%p2 ld.global.f32 %f3, [%rd3+64]; st.global.v2.f32 [%rd3], {%f2, %f3};")
	if n := inLoop(t, src); n[mir.OpMOV] > 2 {
		t.Errorf("%d moves, want the two zeros: %v", n[mir.OpMOV], n)
	}
	must(t, src, hopper)
}
