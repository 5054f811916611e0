package assemble

import (
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine/assemble/mir"
)

// behindArm is a loop that walks global memory, behind an arm of some lanes.
func behindArm(arm string) string {
	src := walkingKernel("setp.ne.s32 %p1, %r3, %r1;", "mul.wide.s32 %rd3, %r2, 4;\nadd.s64 %rd4, %rd9, %rd3;\nld.global.f32 %f2, [%rd4];", "add.s64 %rd9, %rd9, 32;")
	src = strings.Replace(src, "\nL:\n", "\nsetp.gt.s32 %p2, %r2, 31;\n@%p2 bra J;\nst.shared.u32 [tile], %r2;\n"+arm+"J:\nmov.u32 %r5, %ctaid.x;\nmul.wide.s32 %rd6, %r5, 4;\nadd.s64 %rd9, %rd9, %rd6;\nL:\n", 1)
	src = strings.Replace(src, "\n.reg", "\n.shared .align 4 .b8 tile[4];\n.reg", 1)
	return strings.Replace(src, "sm_90\n", "sm_90a\n", 1)
}

// TestLanesApart: behind an arm in which a warp synchronises nothing brings its lanes together, and uniform registers
// keep neither what a loop steps nor the descriptor of global memory. (ptxas 13.0 for sm_90a.)
func TestLanesApart(t *testing.T) {
	together, apart := behindArm(""), behindArm("bar.warp.sync -1;\n")
	if n := selectedOps(t, together, hopper.CC); n[mir.OpR2UR] != 0 || n[mir.OpUIADD3] == 0 {
		t.Errorf("together: %d copies to uniform registers, %d additions there; want none, and some", n[mir.OpR2UR], n[mir.OpUIADD3])
	}
	// A pair in the loop, and one for the store behind it.
	if n := selectedOps(t, apart, hopper.CC); n[mir.OpR2UR] != 4 || n[mir.OpUIADD3] != 0 {
		t.Errorf("apart: %d copies to uniform registers, %d additions there; want 4 and none", n[mir.OpR2UR], n[mir.OpUIADD3])
	}
	if a, b := must(t, together, hopper).Registers, must(t, apart, hopper).Registers; b < a+2 {
		t.Errorf("%d registers apart, %d together; want two more at least", b, a)
	}
	// Where the first access is before the arm the descriptor is in uniform registers.
	before := strings.Replace(apart, "setp.gt.s32 %p2", "st.global.f32 [%rd1], %f1;\nsetp.gt.s32 %p2", 1)
	if n := selectedOps(t, before, hopper.CC); n[mir.OpR2UR] != 0 {
		t.Errorf("after an access together: %d copies to uniform registers; want none", n[mir.OpR2UR])
	}
}

// TestWantedApart: a loop's counter that tells the address of an mbarrier is in a uniform register where lanes are together,
// and in a general one where they may be apart, and so is what is computed of it. (ptxas 13.0: bulk_stencil.)
func TestWantedApart(t *testing.T) {
	const stage = "L:\nand.b32 %r6, %r3, 3;\nshl.b32 %r6, %r6, 3;\nmbarrier.arrive.shared.b64 _, [%r6];\n"
	for _, c := range []struct {
		arm      string
		together bool
	}{{"", true}, {"bar.warp.sync -1;\n", false}} {
		n := selectedOps(t, strings.Replace(behindArm(c.arm), "L:\n", stage, 1), hopper.CC)
		if got := n[mir.OpUIADD3] > 0 && n[mir.OpULOP3] > 0; got != c.together || !got && n[mir.OpUIADD3]+n[mir.OpULOP3] > 0 {
			t.Errorf("%q: %d additions and %d masks on the uniform datapath", c.arm, n[mir.OpUIADD3], n[mir.OpULOP3])
		}
	}
}
