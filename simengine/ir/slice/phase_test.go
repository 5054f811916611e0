package slice_test

import (
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/ir/slice"
	"github.com/warptune/warptune/simengine/ptxtest"
)

// A result goes through the shared memory that an index went through earlier. It does not matter to the index where a
// barrier that all threads pass lies between, and matters where that barrier is missing or in a loop with both.
func TestSliceOfPhases(t *testing.T) {
	src := `.reg .b64 %rd<9>;
	.reg .b32 %r<9>;
	.reg .f32 %f<9>;
	.reg .pred %p<9>;
	.shared .align 16 .b8 tile[1024];
	ld.param.u64 %rd1, [in];
	ld.param.u64 %rd2, [out];
	mov.u32 %r1, %tid.x;
	mov.u32 %r5, 0;
LOOP:
	ld.global.u32 %r2, [%rd1];
	st.shared.u32 [tile], %r2;
	bar.sync 0;
	ld.shared.u32 %r3, [tile+4];
	mul.wide.u32 %rd4, %r3, 4;
	add.s64 %rd5, %rd2, %rd4;
	mov.u64 %rd3, 0;
	wgmma.fence.sync.aligned;
	wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd3, %rd3, 0, 1, 1, 0, 0;
	wgmma.commit_group.sync.aligned;
	wgmma.wait_group.sync.aligned 0;
	bar.sync 0;
	st.shared.f32 [tile], %f0;
	ld.shared.f32 %f5, [tile+8];
	st.global.f32 [%rd5], %f5;
	AGAIN
	ret;`
	for _, c := range []struct {
		name, from, to string
		multiplies     bool
	}{
		{"a barrier between", "AGAIN", "", false},
		{"no barrier between", "bar.sync 0;\n\tst.shared.f32", "st.shared.f32", true},
		{"a barrier of some threads", "bar.sync 0;\n\tst.shared.f32", "bar.sync 1, 64;\n\tst.shared.f32", true},
		{"in a loop", "AGAIN", "add.s32 %r5, %r5, 1; setp.lt.s32 %p1, %r5, 4; @%p1 bra LOOP;", true},
	} {
		k := ptxtest.Kernel(t, ".param .u64 in, .param .u64 out", strings.Replace(strings.Replace(src, c.from, c.to, 1), "AGAIN", "", 1))
		multiplies := false
		for pc, need := range slice.WithDistinctBuffers(k) {
			multiplies = multiplies || need && k.Instrs[pc].Op == ir.Wgmma
		}
		if multiplies != c.multiplies {
			t.Errorf("%s: the products are in the slice: %v, want %v", c.name, multiplies, c.multiplies)
		}
	}
}
