package sroa_test

import (
	"testing"

	"github.com/warptune/warptune/simengine/ir/sroa"

	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/ptxtest"
)

// An array that stays in local memory is told with the place where data indexes it, by addresses of either
// width; one whose places are all constants without.
func TestLocalArrays(t *testing.T) {
	k := ptxtest.Kernel(t, "", `
	.local .align 4 .b8 a[64];
	.local .align 4 .b8 b[16];
	.reg .b64 %rd<4>;
	.reg .b32 %r<4>;
	.reg .b16 %h<2>;
	mov.u64 %rd1, a;
	mov.u32 %r1, %tid.x;
	cvt.u32.u64 %r2, %rd1;
	add.u32 %r3, %r2, %r1;
	mov.u16 %h1, 0;
	st.local.u8 [%rd1+3], %h1;
	st.local.u32 [%r3], %r1;
	ld.local.u32 %r1, [%r3+4];
	st.local.u8 [b+1], %h1;
	ret;`)
	got := sroa.LocalArrays(k)
	if len(got) != 2 || got[0].Name != "a" || got[0].Bytes != 64 || got[0].Indexed.Line == 0 || got[1].Name != "b" || got[1].Indexed.IsValid() {
		t.Fatalf("%+v", got)
	}
	for pc := range k.Instrs {
		if in := &k.Instrs[pc]; in.Op == ir.Ld && in.Pos != got[0].Indexed {
			t.Errorf("indexed at %v, loaded at %v", got[0].Indexed, in.Pos)
		}
	}
}
