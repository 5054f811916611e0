package simengine_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/warptune/warptune/simengine"
)

// walk sums up every other word of a table in constant memory, one an iteration.
const walk = `
	mov.f32 %f0, 0f00000000;
	cvt.rn.f32.u32 %f2, %r0;
	mov.u64 %rd10, table;
	mov.u32 %r10, 0;
again:
	ld.const.f32 %f1, [%rd10];
	fma.rn.f32 %f0, %f0, %f2, %f1;
	add.s64 %rd10, %rd10, 8;
	add.s32 %r10, %r10, 1;
	setp.lt.s32 %p1, %r10, %r2;
	@%p1 bra again;
`

// CTAs of which a sub-partition holds many are at places of their own of a table that
// they walk, and each load takes its cycles (deploy/calibrate constants.places); few
// stay together, and a few lines of a table they all find.
func TestTables(t *testing.T) {
	const steps, threads = 512, 132 * 2048
	for _, level := range []simengine.Level{simengine.Cycle, simengine.Model} {
		time := func(bytes, cta, steps int) *simengine.Report {
			text := kernel(fmt.Sprintf(".const .align 4 .b8 table[%d];", bytes), walk)
			r, err := simulate(t, text, "h200", launch{ctas: 4 * threads / cta, threads: cta, steps: steps, level: level})
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		small, large := time(8*steps, 128, steps), time(8*steps, 512, steps)
		loads := 4 * steps * 2048 / 32 / 4 // of a sub-partition
		if each := small.Cycles / float64(loads); each < 55 || each > 95 || small.Bound != "constant" {
			t.Errorf("level %v, CTAs of 128 threads: %.0f cycles of a sub-partition a load, bound by %s", level, each, small.Bound)
		}
		if ratio := small.Cycles / large.Cycles; ratio < 4 {
			t.Errorf("level %v: CTAs of 128 threads take %.1f times as long as CTAs of 512", level, ratio)
		}
		middle := math.Sqrt(small.Cycles * large.Cycles)
		if ratio := time(8*steps, 256, steps).Cycles / middle; ratio < 0.95 || ratio > 1.05 {
			t.Errorf("level %v: CTAs of 256 threads, which may come apart or not, take %.2f times the geometric mean of both", level, ratio)
		}
		if ratio := time(8*steps, 128, 32).Cycles / time(8*steps, 512, 32).Cycles; ratio > 1.15 {
			t.Errorf("level %v: of 256 bytes of a table CTAs of 128 threads take %.2f times as long as CTAs of 512", level, ratio)
		}
	}
}
