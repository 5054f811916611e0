package assemble

import (
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine/assemble/asmtest"
	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/assemble/target"
)

// selectedOps counts the operations that a kernel is lowered to for a compute capability.
func selectedOps(t *testing.T, src string, cc [2]int) map[mir.Op]int {
	t.Helper()
	tg, err := target.For(cc)
	if err != nil {
		t.Fatal(err)
	}
	k := asmtest.BuildKernel(t, "k", []byte(src))
	tg.Specific = k.Specific()
	f, err := selected(k, tg)
	if err != nil {
		t.Fatal(err)
	}
	n := map[mir.Op]int{}
	for b := range f.Blocks {
		for i := range f.Blocks[b].Insts {
			n[f.Blocks[b].Insts[i].Op]++
		}
	}
	return n
}

// Instructions before Hopper read constants in place, whatever brings them in PTX, and
// keep none in registers but what two operands of an instruction need.
func TestConstantsAreReadInPlaceBeforeHopper(t *testing.T) {
	src := guardedText("mov.u32 %r4, %ntid.x; mad.lo.s32 %r5, %r2, %r4, %r1; cvt.rn.f32.s32 %f2, %r5; " +
		"ld.const.f32 %f3, [coef+4]; fma.rn.f32 %f1, %f2, %f3, %f1; ld.const.f32 %f4, [coef+8]; fma.rn.f32 %f1, %f1, %f4, %f2;")
	src = constants(src)
	for _, cc := range [][2]int{{3, 5}, {5, 2}, {6, 0}, {7, 0}, {7, 5}, {8, 0}, {8, 6}, {8, 9}} {
		n := selectedOps(t, src, cc)
		if loads := n[mir.OpLDC] + n[mir.OpULDCX]; loads != 0 || n[mir.OpFFMA] != 2 || n[mir.OpS2R] != 1 {
			t.Errorf("sm_%d%d: %d loads of constants, %d multiply-adds, %d special registers; want 0, 2 and 1 (the thread's index)", cc[0], cc[1], loads, n[mir.OpFFMA], n[mir.OpS2R])
		}
	}
	if n := selectedOps(t, src, hopper.CC); n[mir.OpULDCX]+n[mir.OpLDC] < 2 || n[mir.OpS2R]+n[mir.OpS2UR] != 2 {
		t.Errorf("sm_90: %d loads of constants, %d special registers; want some, and 2", n[mir.OpULDCX]+n[mir.OpLDC], n[mir.OpS2R]+n[mir.OpS2UR])
	}
}

// constants puts a constant array before a kernel.
func constants(src string) string {
	return strings.Replace(src, ".visible", ".const .align 16 .b8 coef[1024];\n.visible", 1)
}

// The trace has an access for each constant load; where an instruction reads the
// constant in place, the machine makes none.
func TestLoadsReadInPlaceAreJoined(t *testing.T) {
	src := constants(guardedText("ld.const.f32 %f3, [coef+4]; fma.rn.f32 %f1, %f1, %f3, %f1; ld.const.f32 %f4, [coef+8]; fma.rn.f32 %f1, %f1, %f4, %f1;"))
	for _, c := range []struct {
		cc   [2]int
		want int
	}{{[2]int{7, 5}, 2}, {[2]int{9, 0}, 0}} {
		if p := must(t, src, Options{CC: c.cc}); len(p.Joined) != c.want {
			t.Errorf("sm_%d%d: %d loads without an instruction, want %d", c.cc[0], c.cc[1], len(p.Joined), c.want)
		}
	}
}

// A pointer among the parameters is added to a product in place; the factor is then in a
// register, one for all products of a block.
func TestProductsAddPointersInPlace(t *testing.T) {
	src := guardedText("mul.wide.u32 %rd6, %r1, 4; add.s64 %rd7, %rd1, %rd6; ld.global.f32 %f2, [%rd7]; add.f32 %f1, %f1, %f2;")
	n := selectedOps(t, src, [2]int{8, 6})
	if n[mir.OpIMADWIDE] != 2 || n[mir.OpMOV] > 4 {
		t.Errorf("%d wide products, %d moves; want 2 and at most 4 (stack pointer, factor, bound, zero)", n[mir.OpIMADWIDE], n[mir.OpMOV])
	}
}

// A division whose operands all lanes have in common needs no convergence barrier
// around its slow path.
func TestDivisionOfCommonValuesBranchesTogether(t *testing.T) {
	for _, c := range []struct {
		body string
		want int
	}{
		{"cvt.rn.f32.s32 %f2, %r1; div.rn.f32 %f1, %f2, 0f40400000; ", 0},
		{"cvt.rn.f32.s32 %f2, %r2; div.rn.f32 %f1, %f2, 0f40400000; ", 1},
	} {
		if n := selectedOps(t, guardedText(c.body), hopper.CC); n[mir.OpBSSY] != c.want || n[mir.OpFCHK] != 1 {
			t.Errorf("%s%d barriers, %d checks; want %d and 1", c.body, n[mir.OpBSSY], n[mir.OpFCHK], c.want)
		}
	}
}
