package exec

import (
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine/ir"
)

// softmaxed is a kernel as compilers make them of a softmax: a sum over what a loop loads, a logarithm of it with a
// special case, and a loop that stores under a guard that the iteration before computed.
const softmaxed = `.version 8.4
.target TARGET
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 b)
.reqntid 96
{
	.reg .pred %p<8>;
	.reg .f32 %f<8>;
	.reg .b32 %r<16>;
	.reg .b64 %rd<16>;
	ld.param.u64 %rd1, [a];
	ld.param.u64 %rd2, [b];
	mov.u32 %r0, %tid.x;
	mul.wide.u32 %rd3, %r0, 4;
	add.s64 %rd4, %rd1, %rd3;
	add.s64 %rd5, %rd2, %rd3;
	mov.b32 %r1, 0;
	mov.b32 %f1, 0f00000000;
L1:	ld.global.f32 %f2, [%rd4];
	add.f32 %f1, %f1, %f2;
	add.s64 %rd4, %rd4, 384;
	add.s32 %r1, %r1, 1;
	setp.lt.s32 %p0, %r1, 30;
	@%p0 bra L1;
	setp.lt.f32 %p1, %f1, 0f7F800000;
	@%p1 bra L2;
	add.f32 %f1, %f1, %f1;
L2:	mov.b32 %r2, 0;
	mov.b32 %r3, %r0;
	setp.lt.u32 %p2, %r0, 2700;
L3:	@%p2 st.global.f32 [%rd5], %f1;
	add.s64 %rd5, %rd5, 384;
	add.s32 %r2, %r2, 1;
	add.s32 %r3, %r3, 96;
	setp.lt.u32 %p2, %r3, 2700;
	setp.lt.s32 %p3, %r2, 30;
	@%p3 bra L3;
	ret;
}`

// TestStraightSlice checks that the loops of a kernel for one architecture alone are sampled although a branch depends
// on what one of them computes, and that others' slices still have all that branches depend on.
func TestStraightSlice(t *testing.T) {
	for target, sampled := range map[string]bool{"sm_90a": true, "sm_90": false} {
		k := buildKernel(t, "k.ptx", []byte(strings.Replace(softmaxed, "TARGET", target, 1)))
		prog := compileFor(t, k, Slice)
		for pc := range k.Instrs {
			if k.Instrs[pc].Op == ir.Ld && k.Instrs[pc].Space == ir.Global && prog.Needed[pc] == sampled {
				t.Errorf("%s: the data of %s: needed %t", target, k.Text(pc), prog.Needed[pc])
			}
		}
		p := &problem{kernel: k}
		p.launch, p.mem = launchBody2(t, k)
		whole, cut := runJournal(t, p, prog, 0, Options{}), runJournal(t, p, prog, 0, Options{LoopSample: 2})
		left := int64(0)
		for w := range whole.warps {
			if err := cutMatches(whole.warps[w], cut.warps[w]); err != nil {
				t.Errorf("%s: warp %d: %v", target, w, err)
			}
			for _, e := range cut.warps[w] {
				left += e.repeat
			}
		}
		if least := int64(3 * 2 * 24); sampled && left < least || !sampled && left != 0 {
			t.Errorf("%s: %d iterations were left out, want %d at least or none", target, left, least)
		}
	}
}

// TestStraightSliceOfOtherLoops checks that most of what a kernel computes is left out of the slice that only a branch
// around few instructions depends on, and that no loop is sampled for it, where another loop cannot be.
func TestStraightSliceOfOtherLoops(t *testing.T) {
	text := strings.Replace(softmaxed, "TARGET", "sm_90a", 1)
	text = strings.Replace(text, "add.f32 %f1, %f1, %f2;\n", strings.Repeat("fma.rn.f32 %f1, %f1, %f2, %f1;\n", 20), 1)
	text = strings.Replace(text, "add.s32 %r2, %r2, 1;\n", "ld.global.u32 %r4, [%rd1];\nadd.s32 %r2, %r2, %r4;\n", 1)
	k := buildKernel(t, "k.ptx", []byte(text))
	prog := compileFor(t, k, Slice)
	for pc := range k.Instrs {
		if k.Instrs[pc].Op == ir.Fma && prog.Needed[pc] {
			t.Errorf("%s is needed", k.Text(pc))
		}
	}
	for i := range prog.Loops {
		if prog.Loops[i].CanSample() {
			t.Errorf("loop %d can be sampled", i)
		}
	}
}
