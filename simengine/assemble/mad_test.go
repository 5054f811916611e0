package assemble

import (
	"fmt"
	"testing"

	"github.com/warptune/warptune/simengine/assemble/asmtest"
	"github.com/warptune/warptune/simengine/assemble/mir"
)

// A mad.wide by a power of two is LEA and LEA.HI.X, and takes a parameter from uniform registers. One by another factor,
// and a multiplication with an addition of its own, is IMAD.WIDE (ptxas 12.8 and 13.5 for sm_80 to sm_90a).
func TestWideMultiplyAdds(t *testing.T) {
	for _, c := range []struct {
		address   string
		lea, imad int
	}{
		{"mad.wide.s32 %rd4, %r1, 4, %rd1;", 1, 0},
		{"mad.wide.u32 %rd4, %r1, 8, %rd1;", 1, 0},
		{"mad.wide.s32 %rd4, %r1, 12, %rd1;", 0, 1},
		{"mul.wide.s32 %rd3, %r1, 4; add.s64 %rd4, %rd1, %rd3;", 0, 1},
	} {
		src := fmt.Sprintf(asmtest.Header+`.visible .entry mads(.param .u64 a)
{
.reg .b32 %%r<3>;
.reg .b64 %%rd<5>;
ld.param.u64 %%rd1, [a];
mov.u32 %%r1, %%tid.x;
%s
st.global.b32 [%%rd4], %%r1;
ret;
}
`, c.address)
		n := selectedOps(t, src, hopper.CC)
		if n[mir.OpLEA] != c.lea || n[mir.OpLEAHIX] != c.lea || n[mir.OpIMADWIDE] != c.imad {
			t.Errorf("%s: %d LEA, %d LEA.HI.X and %d IMAD.WIDE, want %d, %d and %d", c.address, n[mir.OpLEA], n[mir.OpLEAHIX], n[mir.OpIMADWIDE], c.lea, c.lea, c.imad)
		}
		if c.lea > 0 && n[mir.OpLDC] > 1 { // one is of the stack pointer
			t.Errorf("%s: %d LDC, want the parameter in uniform registers", c.address, n[mir.OpLDC])
		}
		must(t, src, hopper)
	}
}

// An atomic on a vector of eight halves takes four registers; halves of a word that was loaded are not taken apart.
func TestAtomicsOnHalves(t *testing.T) {
	const src = asmtest.Header + `.visible .entry halves(.param .u64 a)
{
.reg .b16 %h<20>;
.reg .b32 %r<5>;
.reg .b64 %rd<5>;
ld.param.u64 %rd1, [a];
ld.global.v4.b32 {%r1, %r2, %r3, %r4}, [%rd1];
mov.b32 {%h1, %h2}, %r1;
mov.b32 {%h3, %h4}, %r2;
mov.b32 {%h5, %h6}, %r3;
mov.b32 {%h7, %h8}, %r4;
atom.global.gpu.relaxed.add.noftz.v8.bf16 {%h11, %h12, %h13, %h14, %h15, %h16, %h17, %h18}, [%rd1+64], {%h1, %h2, %h3, %h4, %h5, %h6, %h7, %h8};
st.global.b16 [%rd1+32], %h18;
ret;
}
`
	if n := selectedOps(t, src, hopper.CC); n[mir.OpATOM] != 1 || n[mir.OpPRMT] > 1 {
		t.Errorf("%d atomics and %d PRMT, want 1 and 1 at most", n[mir.OpATOM], n[mir.OpPRMT])
	}
	must(t, src, hopper)
}
