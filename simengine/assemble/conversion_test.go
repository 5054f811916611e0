package assemble

import (
	"testing"

	"github.com/warptune/warptune/simengine/assemble/asmtest"
	"github.com/warptune/warptune/simengine/assemble/mir"
)

// Integers become floats on the ALU from the GA102 on, and on the slow unit on the A100 and
// before (ptxas 13.0.88 for sm_75 to sm_120).
func TestIntegersToFloats(t *testing.T) {
	src := guardedText("cvt.rn.f32.s32 %f2, %r2; add.f32 %f1, %f1, %f2;")
	for _, c := range []struct {
		cc   [2]int
		fast int
	}{{[2]int{7, 5}, 0}, {[2]int{8, 0}, 0}, {[2]int{8, 6}, 1}, {[2]int{8, 7}, 1}, {[2]int{8, 9}, 1}, {[2]int{9, 0}, 1}, {[2]int{12, 0}, 1}} {
		n := selectedOps(t, src, c.cc)
		if n[mir.OpI2FP] != c.fast || n[mir.OpI2F] != 1-c.fast {
			t.Errorf("sm_%d%d: %d I2FP and %d I2F, want %d and %d", c.cc[0], c.cc[1], n[mir.OpI2FP], n[mir.OpI2F], c.fast, 1-c.fast)
		}
	}
}

// A structure handed to a kernel by value is read through the address of the parameter.
func TestParameterByAddress(t *testing.T) {
	src := asmtest.Header + `.visible .entry byaddress(.param .u64 a, .param .align 4 .b8 w[64])
{
.reg .f32 %f<5>;
.reg .b32 %r<3>;
.reg .b64 %rd<5>;
.shared .align 16 .b8 s[1024];
ld.param.u64 %rd1, [a];
cvta.to.global.u64 %rd2, %rd1;
mov.b64 %rd3, w;
mov.u32 %r1, s;
ld.shared.f32 %f1, [%r1];
ld.shared.f32 %f2, [%r1+4];
ld.param.f32 %f3, [%rd3+4];
fma.rn.f32 %f1, %f1, %f3, %f2;
st.global.f32 [%rd2], %f1;
ret;
}
`
	for _, cc := range [][2]int{{3, 5}, {7, 5}, {8, 0}, {9, 0}, {12, 0}} {
		if p := must(t, src, Options{CC: cc}); p.Registers == 0 {
			t.Errorf("sm_%d%d: no registers", cc[0], cc[1])
		}
	}
}
