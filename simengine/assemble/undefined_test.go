package assemble

import (
	"fmt"
	"strings"
	"testing"
)

// The first turn of a loop may read registers that nothing wrote, as a product does that does not add to them. Whatever
// spills behind the loop, the loop does not load them.
func TestUndefinedAccumulatorsStayInLoops(t *testing.T) {
	const accumulators, loaded = 12, 16
	var loop, behind, sum strings.Builder
	for i := range accumulators {
		fmt.Fprintf(&loop, "selp.f32 %%f%d, %%f%d, 0f00000000, %%p2; fma.rn.f32 %%f%[1]d, %%f1, %%f2, %%f%[2]d;\n", 10+i, 10+i)
	}
	for i := range loaded {
		fmt.Fprintf(&behind, "ld.volatile.global.f32 %%f%d, [%%rd1+%d];\n", 40+i, 64+4*i)
	}
	for i := range loaded * accumulators {
		fmt.Fprintf(&sum, "fma.rn.f32 %%f3, %%f%d, %%f%d, %%f3;\n", 40+i%loaded, 10+i%accumulators)
	}
	p := must(t, `.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 a, .param .u32 n) {
.reg .pred %p<4>; .reg .b32 %r<9>; .reg .f32 %f<99>; .reg .b64 %rd<9>;
ld.param.u64 %rd1, [a]; ld.param.u32 %r1, [n]; mov.u32 %r2, 0;
L: setp.ne.u32 %p2, %r2, 0; ld.volatile.global.f32 %f1, [%rd1]; ld.volatile.global.f32 %f2, [%rd1+4];
`+loop.String()+`add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, %r1; @%p1 bra L;
`+behind.String()+"mov.f32 %f3, 0f00000000;\n"+sum.String()+"st.global.f32 [%rd1], %f3; ret; }", Options{CC: hopper.CC, MaxRegisters: 24})
	spills := 0
	for b := range p.Blocks {
		for _, in := range p.Blocks[b].Instrs {
			if in.Spill < 0 {
				continue
			}
			spills++
			if b == 1 {
				t.Errorf("the loop spills or reloads word %d", in.Spill)
			}
		}
	}
	if spills == 0 {
		t.Error("nothing spills behind the loop: the cap is too high to tell")
	}
}
