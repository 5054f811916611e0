package simengine_test

import (
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine"
)

// clamped is a kernel whose CTAs of 128 threads copy tiles of 64 rows by cp.async, 128 bytes of each at a time, in turns. 64 CTAs
// share a tile. From CTA steps on the rows of a tile are all the first.
func clamped() string {
	body := `	mov.u32 %r10, tile;
	shl.b32 %r11, %r0, 4;
	add.u32 %r10, %r10, %r11;
	mov.u32 %r15, %r10;
	shr.u32 %r12, %r0, 3;
	shr.u32 %r16, %r3, 6;
	shl.b32 %r16, %r16, 6;
	add.u32 %r12, %r12, %r16;
	and.b32 %r17, %r0, 7;
	shl.b32 %r17, %r17, 4;
	setp.ge.u32 %p2, %r3, %r2;
	mov.u32 %r18, 65536;
	@%p2 mov.u32 %r12, 0;
	@%p2 mov.u32 %r18, 0;
	mad.lo.u32 %r17, %r12, 4096, %r17;
	cvt.u64.u32 %rd10, %r17;
	add.s64 %rd10, %rd1, %rd10;
	cvt.u64.u32 %rd13, %r18;
	shr.u32 %r19, %r4, 2;
	mov.u32 %r13, 0;
	mov.f32 %f0, 0f00000000;
again:
	add.s64 %rd11, %rd10, %rd13;
	add.s64 %rd12, %rd11, %rd13;
	add.s64 %rd14, %rd12, %rd13;
	cp.async.cg.shared.global [%r15], [%rd10], 16;
	cp.async.cg.shared.global [%r15+2048], [%rd11], 16;
	cp.async.cg.shared.global [%r15+4096], [%rd12], 16;
	cp.async.cg.shared.global [%r15+6144], [%rd14], 16;
	cp.async.commit_group;
	cp.async.wait_group 3;
	bar.sync 0;
	add.s64 %rd10, %rd10, 128;
	add.u32 %r13, %r13, 1;
	and.b32 %r14, %r13, 3;
	mad.lo.u32 %r15, %r14, 8192, %r10;
	setp.lt.u32 %p1, %r13, %r19;
	@%p1 bra again;
	cp.async.wait_group 0;
`
	text := kernel(".shared .align 16 .b8 tile[32768];", body)
	return strings.NewReplacer(".target sm_70", ".target sm_90a", ".version 7.8", ".version 8.0").Replace(text)
}

// The last CTAs of a grid wait for each other where they all copy one row again and again: 64 CTAs by 64 rows by 32 turns at
// 3.05 rows of 128 bytes a cycle are 22 us, less what their copies take else (deploy/calibrate samerows.tiles). Nine
// times as many copies take nine times as long.
func TestCopiesOfOneRowWaitForEachOther(t *testing.T) {
	for _, level := range []simengine.Level{simengine.Cycle, simengine.Model} {
		took := func(from int) float64 {
			return report(t, clamped(), launch{ctas: 576, threads: 128, steps: from, shared: 40 << 10, count: 576 * 1024, level: level}).TimeUS
		}
		if more := took(512) - took(576); more < 15 || more > 23 {
			t.Errorf("level %v: %.1f us more", level, more)
		}
		if all := took(0); all < 180 || all > 200 {
			t.Errorf("level %v: %.1f us where all CTAs do", level, all)
		}
	}
}
