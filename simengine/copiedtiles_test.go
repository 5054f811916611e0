package simengine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine"
)

// copied is a kernel whose CTAs of 128 threads, one an SM, copy 8 KB of rows of 128 bytes by cp.async, 512 times, four under
// way at a time. Of apart CTAs in a row all copy the same.
func copied(apart int) string {
	var b strings.Builder
	fmt.Fprintf(&b, `	mov.u32 %%r10, tile;
	shl.b32 %%r11, %%r0, 4;
	add.u32 %%r10, %%r10, %%r11;
	div.u32 %%r12, %%r3, %d;
	mul.lo.u32 %%r12, %%r12, 131072;
	add.u32 %%r12, %%r12, %%r11;
	cvt.u64.u32 %%rd10, %%r12;
	add.s64 %%rd10, %%rd1, %%rd10;
	mov.u64 %%rd11, %%rd10;
	mov.u32 %%r13, 0;
	mov.u32 %%r15, %%r10;
	mov.f32 %%f0, 0f00000000;
again:
`, apart)
	for i := range 4 {
		fmt.Fprintf(&b, "	cp.async.cg.shared.global [%%r15+%d], [%%rd11+%d], 16;\n", 2048*i, 2048*i)
	}
	b.WriteString(`	cp.async.commit_group;
	cp.async.wait_group 3;
	bar.sync 0;
	add.u32 %r13, %r13, 1;
	and.b32 %r14, %r13, 15;
	mul.wide.u32 %rd12, %r14, 8192;
	add.s64 %rd11, %rd10, %rd12;
	and.b32 %r14, %r13, 3;
	mad.lo.u32 %r15, %r14, 8192, %r10;
	setp.lt.u32 %p1, %r13, 512;
	@%p1 bra again;
	cp.async.wait_group 0;
`)
	text := kernel(".shared .align 16 .b8 tile[32768];", b.String())
	return strings.NewReplacer(".target sm_70", ".target sm_90", ".version 7.8", ".version 8.0").Replace(text)
}

// Copies past L1 of what CTAs that follow each other share come faster than copies of data of their own (an H200, rows of
// 128 bytes: deploy/calibrate copied.tiles, 70 to 131 bytes a nanosecond and SM; tma.bulk_rate of own data from L2, 61).
func TestCopiesOfSharedTilesJoin(t *testing.T) {
	for _, level := range []simengine.Level{simengine.Cycle, simengine.Model} {
		took := func(apart int) float64 {
			return report(t, copied(apart), launch{ctas: 132, threads: 128, shared: 130 << 10, level: level}).TimeUS
		}
		own, shared := took(1), took(132)
		if gain := own / shared; gain < 1.2 || gain > 2.5 {
			t.Errorf("level %v: %.1f us shared, %.1f of data of their own", level, shared, own)
		}
	}
}
