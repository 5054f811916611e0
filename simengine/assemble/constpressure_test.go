package assemble

import (
	"fmt"
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine/assemble/asmtest"
)

// filters is four filters of some constants over words of shared memory 30 words apart,
// constant by constant.
func filters(constants int) string {
	var sb strings.Builder
	sb.WriteString(asmtest.Header + `.const .align 16 .b8 coef[1024];
.visible .entry filters(.param .u64 a)
{
.reg .f32 %a<512>;
.reg .f32 %c<128>;
.reg .b32 %r<5>;
.reg .b64 %rd<4>;
.reg .f32 %s<512>;
.shared .align 16 .b8 s[8192];
ld.param.u64 %rd1, [a];
cvta.to.global.u64 %rd2, %rd1;
mov.u32 %r1, %tid.x;
mov.u32 %r2, s;
mad.lo.s32 %r3, %r1, 4, %r2;
`)
	loaded := map[int]bool{}
	for k := range constants {
		fmt.Fprintf(&sb, "ld.const.f32 %%c%d, [coef+%d];\n", k, 4*k)
		for r := range 4 {
			at := 30*r + k
			if !loaded[at] {
				fmt.Fprintf(&sb, "ld.shared.f32 %%s%d, [%%r3+%d];\n", at, 4*at)
				loaded[at] = true
			}
			from := fmt.Sprintf("%%a%d", 4*(k-1)+r)
			if k == 0 {
				from = "0f00000000"
			}
			fmt.Fprintf(&sb, "fma.rn.f32 %%a%d, %%s%d, %%c%d, %s;\n", 4*k+r, at, k, from)
		}
	}
	for r := range 4 {
		fmt.Fprintf(&sb, "st.global.f32 [%%rd2+%d], %%a%d;\n", 4096*r, 4*(constants-1)+r)
	}
	sb.WriteString("ret;\n}\n")
	return sb.String()
}

// Values that several filters share are used up one after the other, in few registers, while
// their constants find room in uniform ones or are read in place, and wait for the filters' constants
// where those do not. Registers of ptxas 13.0.88 (deploy/calibrate/ptxas/filters.py), which keeps some
// of them waiting where a few constants have no room.
func TestFiltersWaitForTheirConstants(t *testing.T) {
	for _, c := range []struct {
		cc        [2]int
		constants int
		ptxas     int
		most      float64 // times as many
	}{
		{[2]int{8, 6}, 112, 39, 1.2}, {[2]int{9, 0}, 40, 32, 1.2}, {[2]int{9, 0}, 54, 31, 1.2}, {[2]int{9, 0}, 56, 56, 1.6}, {[2]int{9, 0}, 104, 87, 1.2},
		{[2]int{9, 0}, 112, 91, 1.2}, {[2]int{10, 0}, 62, 32, 1.2}, {[2]int{10, 0}, 70, 31, 1.2}, {[2]int{10, 0}, 72, 62, 1.6}, {[2]int{10, 0}, 104, 90, 1.2}, {[2]int{12, 0}, 112, 94, 1.2},
	} {
		n := float64(must(t, filters(c.constants), Options{CC: c.cc}).Registers)
		if ptxas := float64(c.ptxas); n < ptxas/1.2 || n > ptxas*c.most {
			t.Errorf("sm_%d%d, %d constants: %.0f registers, ptxas takes %d", c.cc[0], c.cc[1], c.constants, n, c.ptxas)
		}
	}
}
