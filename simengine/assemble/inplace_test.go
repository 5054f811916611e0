package assemble

import (
	"fmt"
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine/assemble/asmtest"
	"github.com/warptune/warptune/simengine/assemble/mir"
)

// inPlaceText is a kernel for sm_90a in which %f1, %f2 and %f3 are loaded, and %f9 is stored.
func inPlaceText(body string) string {
	return strings.Replace(fmt.Sprintf(asmtest.Header+`.visible .entry inplace(.param .u64 a)
{
.reg .f32 %%f<12>;
.reg .b32 %%r<3>;
.reg .b64 %%rd<5>;
ld.param.u64 %%rd1, [a];
mov.u32 %%r1, %%tid.x;
mad.wide.u32 %%rd4, %%r1, 4, %%rd1;
ld.global.f32 %%f1, [%%rd4];
ld.global.f32 %%f2, [%%rd4+1024];
ld.global.f32 %%f3, [%%rd4+2048];
%s
st.global.f32 [%%rd4], %%f9;
ret;
}
`, body), "sm_90\n", "sm_90a\n", 1)
}

// div.full scales its operands where they are if nothing else reads them, and compares its divisor once if that is not
// small. Counts by ptxas 12.8 for sm_90a.
func TestDivisionsScaleInPlace(t *testing.T) {
	for _, c := range []struct {
		body                        string
		compares, multiplies, moves int
	}{
		{"div.full.f32 %f9, %f1, %f2;", 2, 5, 0},
		{"ex2.approx.ftz.f32 %f4, %f2; add.f32 %f5, %f4, 0f3F800000; div.full.f32 %f9, %f1, %f5;", 1, 3, 0},
		{"abs.f32 %f4, %f2; add.f32 %f5, %f4, 0f3727C5AC; div.full.f32 %f9, %f1, %f5;", 1, 3, 0},
		{"abs.f32 %f4, %f2; add.f32 %f5, %f4, 0f00000001; div.full.f32 %f9, %f1, %f5;", 2, 5, 0}, // a denormal
		{"max.f32 %f5, %f2, 0f358637BD; div.full.f32 %f9, %f1, %f5;", 2, 5, 0},
		{"div.full.f32 %f4, %f1, %f2; div.full.f32 %f5, %f3, %f2; mul.f32 %f9, %f4, %f5;", 2, 9, 0},
		{"div.full.f32 %f4, %f1, %f2; mul.f32 %f9, %f4, %f2;", 2, 6, 1}, // the divisor is read once more
		{"div.full.f32 %f9, 0f3F800000, %f2;", 2, 4, 1},                 // a quarter of one is known
	} {
		n := selectedOps(t, inPlaceText(c.body), hopper.CC)
		if n[mir.OpFSETP] != c.compares || n[mir.OpFMUL] != c.multiplies || n[mir.OpFSEL] != c.moves {
			t.Errorf("%s: %d FSETP, %d FMUL and %d FSEL, want %d, %d and %d", c.body, n[mir.OpFSETP], n[mir.OpFMUL], n[mir.OpFSEL], c.compares, c.multiplies, c.moves)
		}
		must(t, inPlaceText(c.body), hopper)
	}
}
