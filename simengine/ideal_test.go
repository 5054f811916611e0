package simengine_test

import (
	"testing"

	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/simengine/ideal"
)

// Each mechanism costs what the same kernel without it gains, and the machine without the mechanism is as fast as that
// kernel.
func TestIdealIsTheKernelWithout(t *testing.T) {
	strided := func(shift string) string { return kernel("", load("shl.b32 %r10, %r1, "+shift+";")) }
	shared := func(stride string) string {
		return kernel(".shared .align 4 .b8 tile[16896];", `
	mul.lo.s32 %r20, %r0, `+stride+`;
	and.b32 %r20, %r20, 16383;
	mov.u32 %r21, tile;
	add.s32 %r20, %r20, %r21;
	mov.f32 %f0, 0f3F800000;
	mov.u32 %r22, 0;
	st.shared.f32 [%r20], %f0;
again:
	ld.shared.f32 %f1, [%r20];
	add.f32 %f0, %f0, %f1;
	add.s32 %r22, %r22, 1;
	setp.lt.u32 %p1, %r22, %r2;
	@%p1 bra again;`)
	}
	divergent := func(lanes string) string {
		return kernel("", `
	mov.f32 %f0, 0f3F800000;
	mov.u32 %r22, 0;
	and.b32 %r20, %r0, `+lanes+`;
	setp.ne.u32 %p1, %r20, 0;
	@%p1 bra other;
one:
	fma.rn.f32 %f0, %f0, %f0, %f0;
	sqrt.approx.f32 %f0, %f0;
	add.s32 %r22, %r22, 1;
	setp.lt.u32 %p1, %r22, %r2;
	@%p1 bra one;
	bra.uni both;
other:
	fma.rn.f32 %f0, %f0, %f0, 0f3F800000;
	sqrt.approx.f32 %f0, %f0;
	add.s32 %r22, %r22, 1;
	setp.lt.u32 %p1, %r22, %r2;
	@%p1 bra other;
both:`)
	}
	for _, tt := range []struct {
		mechanism     ideal.Set
		with, without string
		l             launch
		within        float64 // of the time
	}{
		{ideal.Coalescing, strided("3"), strided("0"), launch{ctas: 4096, threads: 256}, 0.05},
		{ideal.Banks, shared("128"), shared("4"), launch{ctas: 500, threads: 128, steps: 100}, 0.05},
		{ideal.Divergence, divergent("1"), divergent("32"), launch{ctas: 500, threads: 256, steps: 200}, 0.1},
	} {
		for _, level := range levels {
			tt.l.level = level
			plain := questioned(t, tt.with, tt.l, func(*simengine.Request) {})
			machine := questioned(t, tt.with, tt.l, func(r *simengine.Request) { r.Ideal = tt.mechanism })
			kernel := questioned(t, tt.without, tt.l, func(*simengine.Request) {})
			t.Logf("%s, %v: %.4g us, %.4g on the machine without, %.4g of the kernel without", tt.mechanism, level, plain.TimeUS, machine.TimeUS, kernel.TimeUS)
			if ratio := machine.TimeUS / kernel.TimeUS; ratio < 1-tt.within || ratio > 1+tt.within {
				t.Errorf("%s, %v: the machine without it takes %.3f times what the kernel without it takes", tt.mechanism, level, ratio)
			}
			if plain.TimeUS < 1.2*machine.TimeUS {
				t.Errorf("%s, %v: nothing is gained: %.4g and %.4g us", tt.mechanism, level, plain.TimeUS, machine.TimeUS)
			}
		}
	}
}
