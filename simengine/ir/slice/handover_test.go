package slice_test

import (
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/ir/slice"
	"github.com/warptune/warptune/simengine/ptxtest"
)

// Indices that lanes hand each other through memory that holds data before and after need none of that data, if all that
// is read was written for it.
func TestSliceOfHandedOverIndices(t *testing.T) {
	const body = `.reg .b32 %r<12>;
	.reg .b64 %rd<8>;
	.reg .f32 %f<4>;
	.reg .pred %p<4>;
	.extern .shared .align 128 .b8 tile[];
	ld.param.u64 %rd1, [in];
	mov.u32 %r1, %tid.x;
	shl.b32 %r2, %r1, 2;
	mov.u32 %r3, tile;
	add.s32 %r4, %r3, %r2;
	xor.b32 %r5, %r2, OTHER;
	add.s32 %r6, %r3, %r5;
	setp.lt.u32 %p1, %r1, SOME;
LOOP:
	st.shared.f32 [%r4], %f1;
	bar.sync 0;
	ld.shared.f32 %f1, [%r6];
	bar.sync 0;
	@%p1 st.shared.b32 [%r4], %r1;
	BARRIER;
	ld.shared.u32 %r7, [%r6];
	mul.wide.u32 %rd3, %r7, 4;
	add.s64 %rd4, %rd1, %rd3;
	ld.global.u32 %r8, [%rd4];
	setp.ne.s32 %p2, %r8, 0;
	bar.sync 0;
	@%p2 bra LOOP;
	ret;`
	for _, c := range []struct {
		name, other, some, barrier, target string
		stores                             int
	}{
		{"all is written", "252", "64", "bar.sync 0", "sm_90a", 1},
		{"by lanes of the warp", "124", "64", "bar.warp.sync -1", "sm_90a", 1},
		{"by lanes of another warp that need not be there", "252", "64", "bar.warp.sync -1", "sm_90a", 2},
		{"not all is written", "252", "63", "bar.sync 0", "sm_90a", 2},
		{"the barrier is not of all", "252", "64", "bar.sync 1, 32", "sm_90a", 2},
		{"for several architectures", "252", "64", "bar.sync 0", "sm_90", 2},
	} {
		text := strings.NewReplacer("OTHER", c.other, "SOME", c.some, "BARRIER", c.barrier).Replace(body)
		header := strings.Replace(ptxtest.Header, "sm_90", c.target, 1)
		k := ptxtest.Module(t, "test.ptx", header+".visible .entry k(.param .u64 in)\n.reqntid 64\n{\n"+text+"\n}\n").Kernels[0]
		stores := 0
		for pc, n := range slice.Addresses(k) {
			if n && k.Instrs[pc].Op == ir.St {
				stores++
			}
		}
		if stores != c.stores {
			t.Errorf("%s: %d stores are in the slice, want %d", c.name, stores, c.stores)
		}
	}
}
