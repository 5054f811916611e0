package simengine_test

import (
	"testing"

	"github.com/warptune/warptune/simengine"
)

// A loop of which each iteration does what its numbers say is executed whole where that ends soon. Where it does
// not, it is estimated, and takes as many times longer as it has more iterations. The report says that it is an
// estimate.
func TestLongLoopsThatBranchOnDataAreEstimated(t *testing.T) {
	text := kernel("", `
	mov.u32 %r5, 0;
	mov.f32 %f1, 0f00000000;
	mad.lo.s32 %r6, %r0, -1640531527, %r3;
again:
	mad.lo.s32 %r7, %r5, 1664525, %r6;
	shr.u32 %r8, %r7, 20;
	cvt.rn.f32.u32 %f2, %r8;
	setp.gt.f32 %p2, %f2, 0f42000000;
	@%p2 bra near;
	sqrt.rn.f32 %f3, %f2;
	div.rn.f32 %f1, %f3, %f1;
near:
	add.f32 %f1, %f1, %f2;
	add.s32 %r5, %r5, 1;
	setp.lt.u32 %p1, %r5, %r2;
	@%p1 bra again;
	mov.f32 %f0, %f1;`)
	const short, long = 1000, 500_000
	at := func(steps int, level simengine.Level) *simengine.Report {
		return report(t, text, launch{ctas: 132, threads: 128, steps: steps, level: level})
	}
	for _, level := range levels {
		whole, estimated := at(short, level), at(long, level)
		ratio := estimated.TimeUS / whole.TimeUS / (long / short)
		t.Logf("level %v: %.1f and %.0f us, %.3f of what the iterations say, estimated to %.1f %%", level, whole.TimeUS, estimated.TimeUS, ratio, 100*estimated.ErrorShare)
		if estimated.ErrorShare <= whole.ErrorShare || estimated.ErrorShare > 0.1 {
			t.Errorf("level %v: error of %.3g estimated, of %.3g where all is executed", level, estimated.ErrorShare, whole.ErrorShare)
		}
		if ratio < 0.85 || ratio > 1.15 {
			t.Errorf("level %v: %.3g of the time that the iterations say", level, ratio)
		}
	}
}
