package simengine_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine"
)

// exchange stores a word of shared memory a thread and reads its neighbour's.
const exchange = `
	shl.b32 %r10, %r0, 2;
	mov.u32 %r11, tile;
	add.s32 %r10, %r11, %r10;
	cvt.rn.f32.u32 %f1, %r0;
	st.shared.f32 [%r10], %f1;
	BETWEEN
	xor.b32 %r12, %r0, 33;
	shl.b32 %r12, %r12, 2;
	add.s32 %r12, %r11, %r12;
	ld.shared.f32 %f0, [%r12];
`

// A kernel that is wrong has no report at either level, whatever CTA shows it;
// one that only looks wrong has.
func TestDefects(t *testing.T) {
	const tile = ".shared .align 4 .b8 tile[4096];"
	for _, c := range []struct {
		name, declarations, body string
		ctas                     int
		want                     simengine.FailureKind // FailureInvalid: none
	}{
		{"neighbours without a barrier", tile, strings.Replace(exchange, "BETWEEN", "", 1), 64, simengine.FailureCorrectness},
		{"neighbours with a barrier", tile, strings.Replace(exchange, "BETWEEN", "bar.sync 0;", 1), 64, simengine.FailureInvalid},
		{"all write the same word and value", tile, "mov.f32 %f0, 0f3F800000;\nst.shared.f32 [tile], %f0;", 64, simengine.FailureInvalid},
		{"all write the same word", tile, "cvt.rn.f32.u32 %f0, %r0;\nst.shared.f32 [tile], %f0;", 64, simengine.FailureCorrectness},
		{"a barrier that part of the last CTA leaves out", "",
			"mov.f32 %f0, 0f00000000;\nsetp.ge.s32 %p1, %r1, 4060;\n@%p1 bra past;\nbar.sync 0;\npast:", 64, simengine.FailureRuntime},
		{"before the start of a buffer in the first CTA", "", "ld.global.f32 %f0, [%rd5+-4];", 64, simengine.FailureRuntime},
		{"beyond the end of a buffer in the last CTA", "", "ld.global.f32 %f0, [%rd5+4];", 1 << 18, simengine.FailureRuntime},
		{"beyond the end of shared memory", tile, "mov.u32 %r10, 4096;\nld.shared.f32 %f0, [%r10];", 64, simengine.FailureRuntime},
		{"a table of more static shared memory than ptxas takes", ".shared .align 4 .b8 tile[49156];", strings.Replace(exchange, "BETWEEN", "bar.sync 0;", 1), 64, simengine.FailureLaunch},
		{"a table of as much as it takes", ".shared .align 4 .b8 tile[49152];", strings.Replace(exchange, "BETWEEN", "bar.sync 0;", 1), 64, simengine.FailureInvalid},
		{"inside every buffer", "", "ld.global.f32 %f0, [%rd5];", 1 << 18, simengine.FailureInvalid},
	} {
		for _, level := range []simengine.Level{simengine.Cycle, simengine.Model} {
			_, err := simulate(t, kernel(c.declarations, c.body), "h200", launch{ctas: c.ctas, threads: 64, level: level})
			var f *simengine.Failure
			switch {
			case c.want == simengine.FailureInvalid && err != nil:
				t.Errorf("%s, level %v: %v", c.name, level, err)
			case c.want != simengine.FailureInvalid && (!errors.As(err, &f) || f.Kind != c.want):
				t.Errorf("%s, level %v: %v, want a failure of kind %v", c.name, level, err, c.want)
			}
		}
	}
}
