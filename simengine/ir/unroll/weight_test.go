package unroll_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/warptune/warptune/deploy/calibrate/results/measured"
	"github.com/warptune/warptune/simengine/ir/unroll"
	"github.com/warptune/warptune/simengine/ptxtest"
)

// beside is the kernel of deploy/calibrate/ptxas/unknown.py, for what stands in its loop.
const beside = `
.reg .pred %%p<64>; .reg .b32 %%r<200>; .reg .f32 %%f<400>; .reg .f64 %%d<128>; .reg .b64 %%rd<200>; .reg .b16 %%h<4>; .shared .align 16 .b8 sh[16384];
ld.param.u64 %%rd1, [p0]; ld.param.u64 %%rd2, [p1]; ld.param.u32 %%r9, [p2];
cvta.to.global.u64 %%rd3, %%rd1; cvta.to.global.u64 %%rd4, %%rd2;
mov.u32 %%r1, %%tid.x; mul.wide.u32 %%rd5, %%r1, 4; add.s64 %%rd6, %%rd3, %%rd5; add.s64 %%rd7, %%rd4, %%rd5;
mov.u32 %%r3, sh; shl.b32 %%r4, %%r1, 4; add.s32 %%r5, %%r3, %%r4; mov.u64 %%rd9, tab; add.s64 %%rd8, %%rd5, %%rd9;
ld.global.f32 %%f1, [%%rd7]; ld.global.f32 %%f2, [%%rd7+4096]; ld.global.f32 %%f3, [%%rd7+8192];
ld.global.u32 %%r20, [%%rd7+12288]; ld.global.u32 %%r21, [%%rd7+16384]; ld.global.f64 %%d1, [%%rd7+65536]; ld.global.f64 %%d2, [%%rd7+131072];
ld.global.u64 %%rd20, [%%rd7+65536]; ld.global.u64 %%rd21, [%%rd7+131072];
setp.ge.s32 %%p20, %%r1, %%r9; @%%p20 bra OUT;
mov.u32 %%r2, %%r1; mov.u64 %%rd38, %%rd20; sub.s64 %%rd30, %%rd6, %%rd20; sub.s64 %%rd31, %%rd7, %%rd20;
LOOP:
%s mul.rn.f32 %%f1, %%f1, %%f2;
%s
add.s32 %%r2, %%r2, 128; setp.lt.s32 %%p1, %%r2, %%r9; @%%p1 bra LOOP;
OUT:
st.global.f32 [%%rd6], %%f1; st.global.u32 [%%rd6+4096], %%r2; st.global.u32 [%%rd6+8192], %%r20; st.global.f64 [%%rd6+65536], %%d1; st.global.u64 [%%rd6+65536], %%rd20;
ret;`

// TestUnknownLoopsAgainstPtxas holds which loops of an unknown number of iterations have several at a time against
// what ptxas did. It compares how many multiply-adds are the most beside what else is in the loop. A loop with a
// pointer's step, whose weight is now and then one, may be off by one.
func TestUnknownLoopsAgainstPtxas(t *testing.T) {
	records := measured.Records[struct {
		Arch, Beside, Body string
		Most               int
	}](t, "../../../deploy/calibrate/results/unknown-ptxas-13.0.jsonl.gz")
	loops, exact, near := 0, 0, 0
	for _, r := range records {
		most := -1
		for most < 110 && severalAtATime(t, r.Body, most+1) {
			most++
		}
		loops++
		switch d := most - r.Most; {
		case d == 0:
			exact++
			near++
		case d >= -1 && d <= 1:
			near++
		default:
			t.Logf("%s, %s: %d multiply-adds at most, ptxas has %d", r.Beside, r.Arch, most, r.Most)
		}
	}
	t.Logf("%d loops, %d as ptxas, %d within one multiply-add", loops, exact, near)
	if loops < 1000 || exact*100 < 90*loops || near*100 < 99*loops {
		t.Errorf("of %d loops %d are as ptxas has them and %d within one multiply-add", loops, exact, near)
	}
}

// severalAtATime reports whether the loop with a body and so many multiply-adds is unrolled.
func severalAtATime(t *testing.T, body string, sums int) bool {
	t.Helper()
	text := fmt.Sprintf(beside, body, strings.Repeat("fma.rn.f32 %f1, %f1, %f2, %f3; ", sums))
	m := ptxtest.Module(t, "unknown.ptx", ptxtest.Header+".const .align 16 .b8 tab[16384];\n.visible .entry k(.param .u64 p0, .param .u64 p1, .param .u32 p2)\n{\n"+text+"\n}\n")
	k, err := m.Kernel("")
	if err != nil {
		t.Fatal(err)
	}
	return unroll.Loops(k) != k
}
