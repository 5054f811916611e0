package explain

import (
	"math"
	"strings"
	"testing"

	"github.com/warptune/warptune/cmd/internal/evaluate"
	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/simengine/ideal"
	"github.com/warptune/warptune/simengine/ir"
)

// explained explains PTX with the entry k(in, out) on an H200, launched with so many CTAs of so many threads.
func explained(t *testing.T, body string, ctas, threads, shared int) *Explanation {
	t.Helper()
	text := `.version 8.0
.target sm_80
.address_size 64
	.file	1 "k.cu"
.visible .entry k(.param .u64 in, .param .u64 out)
{
	.reg .pred %p<8>;
	.reg .b32 %r<64>;
	.reg .b64 %rd<64>;
	.reg .f32 %f<64>;
	.loc	1 1 0
	ld.param.u64 %rd1, [in];
	ld.param.u64 %rd2, [out];
	cvta.to.global.u64 %rd1, %rd1;
	cvta.to.global.u64 %rd2, %rd2;
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %ntid.x;
	mov.u32 %r3, %tid.x;
	mad.lo.s32 %r4, %r1, %r2, %r3;
	mul.wide.s32 %rd3, %r4, 4;
	add.s64 %rd4, %rd1, %rd3;
	add.s64 %rd5, %rd2, %rd3;
	mov.u32 %r10, 0;
	mov.f32 %f1, 0f00000000;
` + body + `
	ret;
}
`
	d, err := arch.Load("h200")
	if err != nil {
		t.Fatal(err)
	}
	engine := simengine.New()
	module, err := engine.Parse("k.ptx", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	buffer := func(name string) simengine.Arg {
		return simengine.Arg{Name: name, Elem: ir.F32, Count: 1 << 22, Fill: simengine.Fill{Kind: simengine.FillConstant, Value: 1}}
	}
	req := simengine.Request{
		Kernel: "k", Arch: d, Level: simengine.Cycle, Grid: [3]int{ctas, 1, 1}, CTA: [3]int{threads, 1, 1}, CarveOut: -1, DynamicShared: shared,
		Args: []simengine.Arg{buffer("in"), buffer("out")}, Lines: true,
	}
	r, err := engine.Simulate(module, req)
	if err != nil {
		t.Fatal(err)
	}
	s := &Subject{Report: r, Arch: d, Threads: threads, CTAs: int64(ctas)}
	req.Lines = false
	ideal.All.Each(func(m ideal.Set) {
		req.Ideal = m
		o, err := engine.Simulate(module, req)
		if err != nil {
			t.Fatal(err)
		}
		s.WhatIfs = append(s.WhatIfs, evaluate.WhatIf{Without: m, TimeUS: o.TimeUS, Gain: r.TimeUS / o.TimeUS})
	})
	return Explain(s)
}

// finding is one of a topic.
func finding(t *testing.T, x *Explanation, topic string) Finding {
	t.Helper()
	var all []string
	for _, f := range x.Findings {
		if f.Topic == topic {
			return f
		}
		all = append(all, f.Sentence())
	}
	t.Fatalf("nothing is said of %s:\n%s\n%s", topic, x.Headline, strings.Join(all, "\n"))
	return Finding{}
}

// A few warps that load one after another wait for memory, and the line that waits is named: nothing hides the latency.
func TestLatencyThatIsNotHidden(t *testing.T) {
	x := explained(t, `
	.loc	1 7 0
again:
	ld.global.f32 %f2, [%rd4];
	.loc	1 8 0
	add.f32 %f1, %f1, %f2;
	cvt.rzi.s32.f32 %r11, %f1;
	and.b32 %r11, %r11, 64;
	mul.wide.s32 %rd6, %r11, 4;
	add.s64 %rd4, %rd4, %rd6;
	.loc	1 9 0
	add.s32 %r10, %r10, 1;
	setp.lt.u32 %p1, %r10, 400;
	@%p1 bra again;
	st.global.f32 [%rd5], %f1;`, 132, 64, 0)
	f := finding(t, x, "latency")
	if f.Line != "k.cu:8" || f.Gain < 2 || !strings.Contains(f.Evidence, "its latency is not hidden by") || !strings.Contains(f.Remedy, "More loads in flight") {
		t.Errorf("%+v", f)
	}
	if !strings.Contains(x.Headline, "bound by latency, waiting for data from L1, L2 or DRAM") || x.Findings[0].Topic != "latency" {
		t.Errorf("%s: %+v", x.Headline, x.Findings[0])
	}
}

// Chains of arithmetic without other warps wait for themselves; shared memory that leaves room for few CTAs limits the
// occupancy, and how much would leave room for another is said.
func TestChainsAndOccupancy(t *testing.T) {
	x := explained(t, `
	.loc	1 7 0
again:
	fma.rn.f32 %f1, %f1, %f1, 0f3F800000;
	fma.rn.f32 %f1, %f1, %f1, 0f3F800000;
	fma.rn.f32 %f1, %f1, %f1, 0f3F800000;
	fma.rn.f32 %f1, %f1, %f1, 0f3F800000;
	.loc	1 8 0
	add.s32 %r10, %r10, 1;
	setp.lt.u32 %p1, %r10, 400;
	@%p1 bra again;
	st.global.f32 [%rd5], %f1;`, 528, 32, 100<<10)
	if f := finding(t, x, "dependency"); f.Line != "k.cu:7" || f.Gain < 1.5 || !strings.Contains(f.Remedy, "Independent chains") {
		t.Errorf("%+v", f)
	}
	f := finding(t, x, "occupancy")
	if f.Gain < 1.5 || !strings.Contains(f.Evidence, "limited by shared memory (102400 bytes a CTA)") || !strings.Contains(f.Remedy, "bytes a CTA allow 3 CTAs") {
		t.Errorf("%+v", f)
	}
	found := false
	for _, r := range x.Rates {
		if r.Unit == "fp32" {
			found = true
			if want := 2 * 4 * 400 * 528 * 32.0; math.Abs(r.FLOP-want) > 0.01*want {
				t.Errorf("%g operations, want %g", r.FLOP, want)
			}
		}
	}
	if !found {
		t.Errorf("no rate of fp32: %+v", x.Rates)
	}
}

// Operations are counted by the type of the PTX.
func TestFLOP(t *testing.T) {
	for _, tt := range []struct {
		text, kind string
		n          float64
	}{
		{"fma.rn.f32 %f1, %f2, %f3, %f4", "fp32", 64},
		{"@%p1 add.f64 %fd1, %fd2, %fd3", "fp64", 32},
		{"@!%p1 mul.rn.ftz.f32 %f1, %f2, %f3", "fp32", 32},
		{"fma.rn.f16x2 %r1, %r2, %r3, %r4", "half", 128},
		{"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {}, {}", "tensor cores, fp16", 4096},
		{"wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {}", "tensor cores, bf16", 65536},
		{"add.s32 %r1, %r2, %r3", "", 0},
		{"ld.global.f32 %f1, [%rd1]", "", 0},
		{"wgmma.fence.sync.aligned", "", 0},
		{"", "", 0},
	} {
		if kind, n := flopOf(tt.text, 32); kind != tt.kind || n != tt.n {
			t.Errorf("%s: %g of %q, want %g of %q", tt.text, n, kind, tt.n, tt.kind)
		}
	}
}

// Every mechanism has words for what is lost to it.
func TestLossesHaveWords(t *testing.T) {
	ideal.All.Each(func(m ideal.Set) {
		if lossWords[m] == "" {
			t.Errorf("%s has no words", m)
		}
	})
}
