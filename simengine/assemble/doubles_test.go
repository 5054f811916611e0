package assemble

import (
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine/assemble/mir"
)

// doubleText is a kernel over doubles %fd, of which %fd1 is a parameter, and a thread's
// address %rd3.
func doubleText(body string) string {
	return strings.Replace(constants(guardedText("ld.param.f64 %fd1, [d]; ld.global.f64 %fd2, [%rd3]; ld.global.f64 %fd3, [%rd3+8]; "+body+" st.global.f64 [%rd3], %fd4;")),
		".param .u32 n) {", ".param .u32 n, .param .f64 d) {\n.reg .f64 %fd<9>;", 1)
}

// Of the operands of double-precision arithmetic one is a number in the instruction or
// lies in uniform registers, and what cannot be either is moved to general ones.
func TestOperandsOfDoubles(t *testing.T) {
	moves := selectedOps(t, doubleText("add.f64 %fd4, %fd2, %fd3;"), hopper.CC)
	for _, c := range []struct {
		name, body string
		op         mir.Op
		uniform    int // words brought to uniform registers
		general    int // and to general ones
	}{
		{"a number", "fma.rn.f64 %fd4, %fd2, %fd3, 0d4000000000000000;", mir.OpDFMA, 0, 0},
		{"one as a factor", "mul.f64 %fd4, %fd2, 0dBFE0000000000000;", mir.OpDMUL, 0, 0},
		{"one that is too long", "fma.rn.f64 %fd4, %fd2, 0d3FD5555555555555, %fd3;", mir.OpDFMA, 2, 0},
		{"two", "fma.rn.f64 %fd4, %fd2, 0d3FD8000000000000, 0d3FE0000000000000;", mir.OpDFMA, 0, 2},
		{"two, twice the same", "fma.rn.f64 %fd4, %fd2, 0d3FD5555555555555, 0d3FE0000000000000; mul.f64 %fd4, %fd4, %fd3; fma.rn.f64 %fd4, %fd4, 0d3FD5555555555555, 0d3FF0000000000000;", mir.OpDMUL, 0, 2},
		{"a parameter", "fma.rn.f64 %fd4, %fd1, %fd2, %fd3;", mir.OpDFMA, 0, 0},
		{"twice the same", "mul.f64 %fd4, %fd2, 0d3FD5555555555555; fma.rn.f64 %fd4, %fd4, %fd3, 0d3FD5555555555555;", mir.OpDFMA, 2, 0},
		{"one in constant memory", "ld.const.f64 %fd5, [coef+8]; fma.rn.f64 %fd4, %fd2, %fd5, %fd3;", mir.OpDFMA, 0, 0},
		{"a comparison", "setp.lt.f64 %p2, %fd2, 0d4000000000000000; selp.f64 %fd4, %fd2, %fd3, %p2;", mir.OpDSETP, 0, 0},
	} {
		n := selectedOps(t, doubleText(c.body), hopper.CC)
		if n[c.op] != 1 || n[mir.OpUMOV]-moves[mir.OpUMOV] != c.uniform || n[mir.OpMOV]-moves[mir.OpMOV] != c.general {
			t.Errorf("%s: %d %v, %d words to uniform and %d to general registers; want 1, %d and %d", c.name, n[c.op], c.op,
				n[mir.OpUMOV]-moves[mir.OpUMOV], n[mir.OpMOV]-moves[mir.OpMOV], c.uniform, c.general)
		}
		must(t, doubleText(c.body), hopper)
		if n := selectedOps(t, doubleText(c.body), [2]int{8, 6}); n[mir.OpUMOV] != 0 {
			t.Errorf("%s: %d moves to uniform registers on Ampere, which reads constants in place", c.name, n[mir.OpUMOV])
		}
	}
}

// A reciprocal square root of doubles is refined, in a block of its own, unless what is asked for is what the
// transcendental unit gives.
func TestReciprocalSquareRootOfDoubles(t *testing.T) {
	plain := selectedOps(t, doubleText("mov.f64 %fd4, %fd2;"), hopper.CC)
	for name, want := range map[string]map[mir.Op]int{
		"rsqrt.approx.f64":     {mir.OpMUFU: 1, mir.OpDMUL: 2, mir.OpDFMA: 3, mir.OpBSSY: 1},
		"rsqrt.approx.ftz.f64": {mir.OpMUFU: 1, mir.OpDMUL: 0, mir.OpDFMA: 0, mir.OpBSSY: 0},
	} {
		n := selectedOps(t, doubleText(name+" %fd4, %fd2;"), hopper.CC)
		for op, k := range want {
			if got := n[op] - plain[op]; got != k {
				t.Errorf("%s: %d %v, want %d", name, got, op, k)
			}
		}
		must(t, doubleText(name+" %fd4, %fd2;"), hopper)
	}
}

// Products and sums of halves that name no rounding are one instruction, as those of
// floats; a comparison whose result is a word is one, too.
func TestHalvesContract(t *testing.T) {
	n := selectedOps(t, guardedText("{.reg .b16 %h<5>; ld.global.b16 %h1, [%rd3]; ld.global.b16 %h2, [%rd3+2]; mul.f16 %h3, %h1, %h2; add.f16 %h4, %h3, %h1; st.global.b16 [%rd3], %h4;}"), hopper.CC)
	if n[mir.OpHFMA2] != 1 || n[mir.OpHMUL2]+n[mir.OpHADD2] != 0 {
		t.Errorf("%d multiply-adds, %d products and %d sums; want one multiply-add", n[mir.OpHFMA2], n[mir.OpHMUL2], n[mir.OpHADD2])
	}
	for _, c := range []struct {
		set string
		op  mir.Op
	}{{"set.gt.f16x2.f16x2 %r4, %r2, %r1;", mir.OpHSET2}, {"set.gt.u32.f32 %r4, %f1, 0f40000000;", mir.OpFSET}} {
		if n := selectedOps(t, guardedText(c.set+" st.global.u32 [%rd3], %r4;"), hopper.CC); n[c.op] != 1 || n[mir.OpSEL] != 0 {
			t.Errorf("%s %d %v and %d selections, want 1 and none", c.set, n[c.op], c.op, n[mir.OpSEL])
		}
	}
}
