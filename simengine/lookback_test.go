package simengine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine"
)

// scanKernel is a kernel whose CTAs of 32 threads draw their turn, add up, and wait for the CTAs before by the instructions
// that are given.
func scanKernel(waits string) string {
	return `.version 8.5
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 sums, .param .u64 counter)
{
	.reg .pred %p<8>;
	.reg .b32 %r<16>;
	.reg .b64 %rd<12>;
	.shared .align 4 .b8 turn[4];
	ld.param.u64 %rd0, [out];
	ld.param.u64 %rd1, [sums];
	ld.param.u64 %rd2, [counter];
	mov.u32 %r0, %tid.x;
	setp.ne.u32 %p0, %r0, 0;
	@%p0 bra drawn;
	atom.global.add.u32 %r1, [%rd2], 1;
	st.shared.u32 [turn], %r1;
drawn:
	bar.sync 0;
	ld.shared.u32 %r1, [turn];
	mad.lo.u32 %r7, %r1, 32, %r0;
	mul.wide.u32 %rd6, %r7, 4;
	add.s64 %rd7, %rd0, %rd6;
	ld.global.u32 %r8, [%rd7];
	mul.wide.u32 %rd8, %r1, 4;
	add.s64 %rd8, %rd1, %rd8;
	add.s64 %rd8, %rd8, 128;
	setp.eq.u32 %p1, %r1, 0;
	@%p1 bra there;
	@!%p0 st.relaxed.gpu.global.u32 [%rd8], 1;
` + waits + `
there:
	@!%p0 st.relaxed.gpu.global.u32 [%rd8], 2;
	add.u32 %r8, %r8, %r1;
	st.global.u32 [%rd7], %r8;
	ret;
}
`
}

// back is a look-back that starts so many lanes apart, and goes on by so many CTAs.
func back(lanes string, step int) string {
	return fmt.Sprintf(`
	sub.s64 %%rd9, %%rd8, 4;
	mul.wide.u32 %%rd10, %%r0, %s;
	sub.s64 %%rd9, %%rd9, %%rd10;
next:
	mov.b64 %%rd11, %%rd9;
look:
	ld.relaxed.gpu.global.u32 %%r9, [%%rd11];
	setp.ne.u32 %%p2, %%r9, 0;
	@%%p2 bra seen;
	nanosleep.u32 20;
	bra look;
seen:
	sub.s64 %%rd9, %%rd9, %d;
	setp.ne.u32 %%p3, %%r9, 2;
	@%%p3 bra next;
`, lanes, 4*step)
}

// CTAs that look back take turns: they take longer than those that wait for nothing, longer still if one value is looked at
// at a time, and the more so the more of them are resident. Waits for one CTA are named.
func TestLookBackTakesTurns(t *testing.T) {
	const ctas = 1 << 15
	simulate := func(waits string, level simengine.Level) *simengine.Report {
		t.Helper()
		e := simengine.New()
		m, err := e.Parse("k.ptx", []byte(scanKernel(waits)))
		if err != nil {
			t.Fatal(err)
		}
		req := gridRequest(t, level, ctas)
		req.Check = simengine.Check{}
		r, err := e.Simulate(m, req)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	one := strings.ReplaceAll(back("4", 32), "mul.wide.u32 %rd10, %r0, 4", "mov.b64 %rd10, 0")
	for _, level := range []simengine.Level{simengine.Model, simengine.Cycle} {
		none, lanes, lane := simulate("", level), simulate(back("4", 32), level), simulate(one, level)
		t.Logf("%v: no wait %.1f us, 32 CTAs a look %.1f, one %.1f", level, none.TimeUS, lanes.TimeUS, lane.TimeUS)
		if lanes.TimeUS < 1.1*none.TimeUS || lane.TimeUS < 1.5*lanes.TimeUS {
			t.Errorf("%v: no wait %.1f us, 32 CTAs a look %.1f, one %.1f", level, none.TimeUS, lanes.TimeUS, lane.TimeUS)
		}
		for _, r := range []*simengine.Report{none, lanes, lane} {
			if r.NotModelled != nil {
				t.Errorf("%v: not modelled: %q", level, r.NotModelled)
			}
		}
	}
	chained := simulate("sub.s64 %rd9, %rd8, 4;\nlook: ld.acquire.gpu.global.u32 %r9, [%rd9]; setp.eq.u32 %p2, %r9, 0; @%p2 bra look;", simengine.Model)
	if len(chained.NotModelled) != 1 || !strings.Contains(chained.NotModelled[0], "CTAs before them") {
		t.Errorf("a wait for the CTA before: not modelled: %q", chained.NotModelled)
	}
}
