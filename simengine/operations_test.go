package simengine_test

import (
	"math"
	"testing"

	"github.com/warptune/warptune/simengine"
)

// Operations are counted at level model as the clocked level's lines have them: each execution of each lane, loops
// whose middle is left out too.
func TestOperationsAtLevelModel(t *testing.T) {
	const ctas, threads, steps = 500, 96, 300
	text := kernel("", `
	mov.f32 %f0, 0f3F800000;
	mov.u32 %r22, 0;
again:
	fma.rn.f32 %f0, %f0, %f0, 0f3F800000;
	add.f32 %f0, %f0, %f0;
	add.s32 %r22, %r22, 1;
	setp.lt.u32 %p1, %r22, %r2;
	@%p1 bra again;
	setp.ge.u32 %p1, %r0, 48;
	@%p1 bra none;
	mul.f32 %f0, %f0, %f0;
none:`)
	r := questioned(t, text, launch{ctas: ctas, threads: threads, steps: steps, level: simengine.Model}, func(r *simengine.Request) { r.Lines = true })
	want := float64(ctas) * (3*steps*threads + 48)
	if len(r.Operations) != 1 || r.Operations[0].Kind != "fp32" || math.Abs(r.Operations[0].Count/want-1) > 1e-9 {
		t.Errorf("%v, want %g of fp32", r.Operations, want)
	}
	if r = questioned(t, text, launch{ctas: ctas, threads: threads, steps: steps, level: simengine.Model}, func(*simengine.Request) {}); r.Operations != nil {
		t.Errorf("%v, though nobody asks", r.Operations)
	}
}
