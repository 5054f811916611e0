package sched

import (
	"testing"

	"github.com/warptune/warptune/simengine/assemble/mir"
)

// Loads and shuffles go ahead, and what they depend on; what is made of their results does not.
func TestWhatLeadsToLoads(t *testing.T) {
	f := chosen(t, `.version 8.3
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 a) {
.reg .b32 %r<9>; .reg .f32 %f<9>; .reg .b64 %rd<9>;
ld.param.u64 %rd1, [a]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2;
ld.global.f32 %f1, [%rd3];
add.f32 %f2, %f1, 0f40400000;
mov.b32 %r2, %f2; shfl.sync.bfly.b32 %r3, %r2, 1, 31, -1; mov.b32 %f3, %r3;
mul.f32 %f4, %f3, %f3;
st.global.f32 [%rd3], %f4;
ret;
}
`)
	f.Target.Specific = true
	g := DAGs(f, new(Scratch).Grow(f))[0]
	seen := 0
	for i := range g.insts {
		want, known := map[mir.Op]bool{mir.OpLDG: true, mir.OpFADD: true, mir.OpSHFL: true, mir.OpFMUL: false, mir.OpSTG: false}[g.insts[i].Op]
		if !known {
			continue
		}
		if seen++; g.leads[i] != want {
			t.Errorf("%v goes ahead as loads do: %v, want %v", g.insts[i].Op, g.leads[i], want)
		}
	}
	if seen != 5 {
		t.Errorf("%d instructions looked at, want 5", seen)
	}
	f.Target.Specific = false
	if DAGs(f, new(Scratch).Grow(f))[0].leads != nil {
		t.Error("loads go ahead in PTX for several architectures, too")
	}
}
