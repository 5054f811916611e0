package ir_test

import (
	"testing"

	"github.com/warptune/warptune/simengine/ir"
)

// carried is a loop over CTAs' words, from the one in %rd2 back, in which a loop waits for each.
const carried = `
next:
mov.u64 %rd4, %rd2;
look:
ld.relaxed.gpu.global.u32 %r5, [%rd4];
setp.ne.u32 %p1, %r5, 0; @%p1 bra seen; nanosleep.u32 20; bra look;
seen:
sub.u64 %rd2, %rd2, 4;
setp.ne.u32 %p2, %r5, 2; @%p2 bra next;
`

// A kernel waits for the values of CTAs before it if a loop does nothing but look until there is one, and goes back if a
// loop around it takes the next address, once in a CTA.
func TestWaitsForCTAs(t *testing.T) {
	const address = "mul.wide.u32 %rd3, %r2, 4; add.u64 %rd2, %rd1, %rd3;"
	for name, c := range map[string]struct {
		before, loops string
		want          ir.CTAWait
	}{
		"one lane":      {"mov.u32 %r2, %ctaid.x;" + address, carried, ir.CTAWait{Waits: true, Back: true, Values: 1}},
		"a warp":        {"mov.u32 %r2, %tid.x;" + address, carried, ir.CTAWait{Waits: true, Back: true, Values: 32}},
		"drawn place":   {"atom.global.add.u32 %r2, [%rd1+4096], 1;" + address, carried, ir.CTAWait{Waits: true, Back: true, Values: 1}},
		"one before":    {"mov.u32 %r2, %ctaid.x;" + address, "look: ld.acquire.gpu.global.u32 %r5, [%rd2]; setp.eq.u32 %p1, %r5, 0; @%p1 bra look;", ir.CTAWait{Waits: true}},
		"weak load":     {"mov.u32 %r2, %ctaid.x;" + address, "look: ld.global.u32 %r5, [%rd2]; setp.eq.u32 %p1, %r5, 0; @%p1 bra look;", ir.CTAWait{}},
		"counts":        {"mov.u32 %r6, 0;", "look: ld.relaxed.gpu.global.u32 %r5, [%rd1]; add.u32 %r6, %r6, 1; setp.lt.u32 %p1, %r6, 9; @%p1 bra look;", ir.CTAWait{}},
		"takes":         {"", "look: atom.global.cas.b32 %r5, [%rd1], 0, 1; setp.ne.u32 %p1, %r5, 0; @%p1 bra look;", ir.CTAWait{}},
		"grid barriers": {"mov.u32 %r6, 9;", "next: bar.sync 0; look: ld.acquire.gpu.global.u32 %r5, [%rd1]; setp.ne.u32 %p1, %r5, %r6; @%p1 bra look; sub.u32 %r6, %r6, 1; setp.ne.u32 %p2, %r6, 0; @%p2 bra next;", ir.CTAWait{Waits: true}},
		"several tiles": {"mov.u32 %r2, %ctaid.x; mov.u32 %r6, 9; tile:" + address, carried + "sub.u32 %r6, %r6, 1; setp.ne.u32 %p3, %r6, 0; @%p3 bra tile;", ir.CTAWait{Waits: true}},
	} {
		k := kernel(t, ".param .u64 p", `
.reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<8>;
ld.param.u64 %rd1, [p];
`+c.before+"\n"+c.loops+`
st.global.u32 [%rd1], %r5;
ret;`)
		if got := k.WaitsForCTAs(); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}
