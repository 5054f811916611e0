package simengine_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	calibrated "github.com/warptune/warptune/deploy/calibrate/results/measured"
	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/simengine/ir"
)

// meets is a barrier of the grid at an address in %rd5 as grid_group::sync has it, of so many CTAs.
func meets(n int, ctas string) string {
	return fmt.Sprintf(`
	bar.sync 0;
	setp.ne.u32 %%p0, %%r0, 0;
	@%%p0 bra there%[1]d;
	sub.u32 %%r4, 0x80000001, %[2]s;
	setp.eq.u32 %%p1, %%r1, 0;
	selp.b32 %%r4, %%r4, 1, %%p1;
	atom.add.release.gpu.u32 %%r5, [%%rd5], %%r4;
look%[1]d:
	ld.acquire.gpu.u32 %%r6, [%%rd5];
	xor.b32 %%r6, %%r6, %%r5;
	setp.gt.s32 %%p2, %%r6, -1;
	@%%p2 bra look%[1]d;
there%[1]d:
	bar.sync 0;
`, n, ctas)
}

// gridKernel is a kernel whose CTAs of 32 threads store their elements, meet so many times, and add what the next CTA stored.
func gridKernel(workspace string, meetings int, ctas string) string {
	var all strings.Builder
	for i := range meetings {
		all.WriteString(meets(i, ctas))
	}
	return `.version 8.5
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 sums, .param .u64 counter)
{
	.reg .pred %p<4>;
	.reg .b32 %r<16>;
	.reg .b64 %rd<12>;
	ld.param.u64 %rd0, [out];
	ld.param.u64 %rd1, [sums];
	mov.u32 %r0, %tid.x;
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %nctaid.x;
` + workspace + `
	mad.lo.u32 %r7, %r1, 32, %r0;
	mul.wide.u32 %rd6, %r7, 4;
	add.s64 %rd7, %rd0, %rd6;
	mul.lo.u32 %r8, %r7, 3;
	st.global.u32 [%rd7], %r8;
` + all.String() + `
	add.u32 %r9, %r1, 1;
	rem.u32 %r9, %r9, %r2;
	mad.lo.u32 %r9, %r9, 32, %r0;
	mul.wide.u32 %rd8, %r9, 4;
	add.s64 %rd8, %rd0, %rd8;
	ld.global.u32 %r10, [%rd8];
	add.u32 %r10, %r10, %r8;
	add.s64 %rd9, %rd1, %rd6;
	st.global.u32 [%rd9], %r10;
	ret;
}
`
}

// The barrier's counter is in the workspace of a cooperative launch's grid, or in a buffer of the kernel's own.
const (
	fromDriver = `
	mov.u32 %r3, %envreg2;
	cvt.u64.u32 %rd5, %r3;
	mov.u32 %r3, %envreg1;
	cvt.u64.u32 %rd4, %r3;
	bfi.b64 %rd5, %rd4, %rd5, 32, 32;
	add.s64 %rd5, %rd5, 4;`
	byHand = `
	ld.param.u64 %rd5, [counter];`
)

func gridRequest(t *testing.T, level simengine.Level, ctas int) simengine.Request {
	t.Helper()
	a100, err := arch.Load("a100")
	if err != nil {
		t.Fatal(err)
	}
	buffer := func(name string, n int64) simengine.Arg {
		return simengine.Arg{Name: name, Elem: ir.U32, Count: n, Fill: simengine.Fill{Kind: simengine.FillConstant}}
	}
	return simengine.Request{Arch: a100, Level: level, Grid: [3]int{ctas, 1, 1}, CTA: [3]int{32, 1, 1}, CarveOut: -1,
		Check: simengine.Check{Depth: simengine.CheckSample, Outputs: true, Always: true},
		Args:  []simengine.Arg{buffer("out", 32*int64(ctas)), buffer("sums", 32*int64(ctas)), buffer("counter", 4)}}
}

// CTAs that meet at barriers of the grid are executed together: each reads what another stored before.
func TestGridBarriersOrderCTAs(t *testing.T) {
	const ctas = 24
	for name, workspace := range map[string]string{"the driver's": fromDriver, "by hand": byHand} {
		for _, depth := range []simengine.Depth{simengine.CheckSample, simengine.CheckAll} {
			e := simengine.New()
			m, err := e.Parse("k.ptx", []byte(gridKernel(workspace, 3, "%r2")))
			if err != nil {
				t.Fatal(err)
			}
			req := gridRequest(t, simengine.Model, ctas)
			req.Check.Depth = depth
			x, err := e.Execute(m, req)
			if err != nil {
				t.Errorf("%s, %v: %v", name, depth, err)
				continue
			}
			if len(x.Outputs) != 3 || x.Checked.Full != ctas {
				t.Errorf("%s, %v: %d outputs of %d CTAs, skipped: %s", name, depth, len(x.Outputs), x.Checked.Full, x.Skipped)
				continue
			}
			for _, run := range x.Outputs[1].Runs {
				for i := range len(run.Bytes) / 4 {
					at := run.First + int64(i)
					next := (at/32+1)%ctas*32 + at%32
					if got, want := binary.LittleEndian.Uint32(run.Bytes[4*i:]), uint32(3*at+3*next); got != want {
						t.Fatalf("%s, %v: element %d is %d, want %d", name, depth, at, got, want)
					}
				}
			}
		}
	}
}

// A barrier that expects one CTA more than there are is never left, which is found where the grid is executed.
func TestGridBarrierThatIsNeverLeft(t *testing.T) {
	e := simengine.New()
	m, err := e.Parse("k.ptx", []byte(strings.Replace(gridKernel(byHand, 1, "%r11"), "%nctaid.x;", "%nctaid.x; add.u32 %r11, %r2, 1;", 1)))
	if err != nil {
		t.Fatal(err)
	}
	_, err = e.Execute(m, gridRequest(t, simengine.Model, 8))
	if err == nil || !strings.Contains(err.Error(), "no other thread of the grid goes on") {
		t.Errorf("%v", err)
	}
}

// A barrier of all CTAs of an H100 takes as long as was measured, at either level: the slope of launches of 11 and 101
// barriers of 128 threads.
func TestGridBarriersTakeTime(t *testing.T) {
	measured := map[[2]int]float64{} // by CTAs and barriers, us
	for _, m := range calibrated.Records[calibrated.Measurement](t, "../deploy/calibrate/results/h100-gridsync.jsonl.gz") {
		if m.Name == "gridsync" && m.Int("threads") == 128 {
			measured[[2]int{m.Int("ctas"), m.Int("n")}] = m.Value
		}
	}
	h100, err := arch.Load("h100")
	if err != nil {
		t.Fatal(err)
	}
	for _, ctas := range []int{132, 264, 528, 1056} {
		want := (measured[[2]int{ctas, 101}] - measured[[2]int{ctas, 11}]) / 90
		for name, workspace := range map[string]string{"the driver's": fromDriver, "by hand": byHand} {
			for _, level := range []simengine.Level{simengine.Model, simengine.Cycle} {
				time := func(meetings int) float64 {
					return gridTime(t, h100, level, ctas, gridKernel(workspace, meetings, "%r2"))
				}
				each := (time(9) - time(1)) / 8
				t.Logf("%s, level %v: a barrier of %d CTAs takes %.2f us, measured %.2f", name, level, ctas, each, want)
				if each < 0.85*want || each > 1.15*want {
					t.Errorf("%s, level %v: a barrier of %d CTAs takes %.2f us, want %.2f to within 15 %%", name, level, ctas, each, want)
				}
			}
		}
	}
}

// A wait for the CTA before, at a word of each CTA's own, is no barrier of the grid: it takes as long however many CTAs
// there are.
func TestWaitsForTheCTABeforeAreNoBarriers(t *testing.T) {
	h100, err := arch.Load("h100")
	if err != nil {
		t.Fatal(err)
	}
	own := byHand + "\n\tmul.wide.u32 %rd4, %r1, 128;\n\tadd.s64 %rd5, %rd5, %rd4;"
	for _, level := range []simengine.Level{simengine.Model, simengine.Cycle} {
		time := func(meetings int) float64 { return gridTime(t, h100, level, 132, gridKernel(own, meetings, "%r2")) }
		each := (time(9) - time(1)) / 8
		t.Logf("level %v: %.2f us", level, each)
		if each > 0.75 {
			t.Errorf("level %v: a wait of each CTA by itself takes %.2f us, want at most the 0.75 of a fence, an atomic and a look", level, each)
		}
	}
}

// gridTime is the time of a launch of so many CTAs of 128 threads, us.
func gridTime(t *testing.T, gpu *arch.Descriptor, level simengine.Level, ctas int, kernel string) float64 {
	t.Helper()
	e := simengine.New()
	m, err := e.Parse("k.ptx", []byte(kernel))
	if err != nil {
		t.Fatal(err)
	}
	req := gridRequest(t, level, ctas)
	req.Arch, req.CTA[0], req.Check = gpu, 128, simengine.Check{Depth: simengine.CheckNone}
	for i, n := range []int64{128, 128, 32} {
		req.Args[i].Count = n * int64(ctas)
	}
	r, err := e.Simulate(m, req)
	if err != nil {
		t.Fatal(err)
	}
	return r.TimeUS
}

// The driver launches no more CTAs cooperatively than all SMs hold: of 32 threads on an A100 32 on each of 108.
func TestCooperativeLaunchesAreResident(t *testing.T) {
	for _, tt := range []struct {
		workspace   string
		cooperative bool
		ctas        int
		refused     bool
	}{
		{fromDriver, false, 3456, false}, {fromDriver, false, 3457, true}, {byHand, true, 3457, true}, {byHand, false, 3457, false},
	} {
		e := simengine.New()
		m, err := e.Parse("k.ptx", []byte(gridKernel(tt.workspace, 1, "%r2")))
		if err != nil {
			t.Fatal(err)
		}
		req := gridRequest(t, simengine.Model, tt.ctas)
		req.Cooperative, req.Check = tt.cooperative, simengine.Check{Depth: simengine.CheckNone}
		_, err = e.Simulate(m, req)
		var limit *arch.LaunchError
		if refused := errors.As(err, &limit) && limit.Limit == arch.LimitResident && limit.Most == 3456; refused != tt.refused || !refused && err != nil {
			t.Errorf("%d CTAs, cooperative %v: %v", tt.ctas, tt.cooperative, err)
		}
	}
}
