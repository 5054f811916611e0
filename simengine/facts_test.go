package simengine_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/simengine/ir"
)

// This file holds what introductions to CUDA teach, each from PTX to report.

// kernel is a PTX text with the entry k(in, out, steps): %rd1 and %rd2 are the
// buffers of floats, %r0 the thread in its CTA, %r1 the thread in the grid, %r2
// steps. The body uses %r10, %rd10, %f10, %p1 and up; %f0 at its end is stored to
// out[thread in the grid]. shared and constants are declarations of the module.
func kernel(declarations, body string) string {
	return `.version 7.8
.target sm_70
.address_size 64
` + declarations + `
.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 steps)
{
	.reg .pred %p<8>;
	.reg .b32 %r<64>;
	.reg .b64 %rd<64>;
	.reg .f32 %f<512>;
	ld.param.u64 %rd1, [in];
	ld.param.u64 %rd2, [out];
	ld.param.u32 %r2, [steps];
	cvta.to.global.u64 %rd1, %rd1;
	cvta.to.global.u64 %rd2, %rd2;
	mov.u32 %r0, %tid.x;
	mov.u32 %r3, %ctaid.x;
	mov.u32 %r4, %ntid.x;
	mad.lo.s32 %r1, %r3, %r4, %r0;
	mul.wide.s32 %rd4, %r1, 4;
	add.s64 %rd5, %rd2, %rd4;
` + body + `
	st.global.f32 [%rd5], %f0;
	ret;
}
`
}

// launch is how a kernel is launched; zero fields are 1 CTA of 32 threads, 0 steps,
// and buffers of 2^24 floats.
type launch struct {
	ctas, threads, steps int
	maxRegisters, shared int
	integers             bool // in holds integers below 2^22 instead of floats
	constants            []simengine.Arg
	level                simengine.Level
	count                int64 // floats in each buffer, when not 0
}

// report simulates a kernel on an H200.
func report(t *testing.T, text string, l launch) *simengine.Report {
	t.Helper()
	r, err := simulate(t, text, "h200", l)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// simulate simulates a kernel on the architecture of that name.
func simulate(t *testing.T, text, on string, l launch) (*simengine.Report, error) {
	t.Helper()
	d, err := arch.Load(on)
	if err != nil {
		t.Fatal(err)
	}
	return simulateOn(t, text, d, l)
}

func simulateOn(t *testing.T, text string, d *arch.Descriptor, l launch) (*simengine.Report, error) {
	t.Helper()
	count := int64(1 << 24)
	if l.count > 0 {
		count = l.count
	}
	in := simengine.Arg{Name: "in", Elem: ir.F32, Count: count, Fill: simengine.Fill{Kind: simengine.FillRandom, Value: 1, Seed: 1}}
	if l.integers {
		in.Elem, in.Fill.Value = ir.S32, 1<<22
	}
	engine := simengine.New()
	module, err := engine.Parse("k.ptx", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return engine.Simulate(module, simengine.Request{
		Kernel: "k", Arch: d, Level: max(l.level, simengine.Cycle), Grid: [3]int{max(l.ctas, 1), 1, 1}, CTA: [3]int{max(l.threads, 32), 1, 1},
		CarveOut: -1, MaxRegisters: l.maxRegisters, DynamicShared: l.shared, Constants: l.constants,
		Args: []simengine.Arg{
			in,
			{Name: "out", Elem: ir.F32, Count: count, Fill: simengine.Fill{Kind: simengine.FillConstant}},
			{Name: "steps", Elem: ir.U32, Scalar: true, Bits: uint64(l.steps)},
		},
	})
}

// load is a body that reads in at the element that address leaves in %r10.
func load(address string) string {
	return address + `
	mul.wide.s32 %rd10, %r10, 4;
	add.s64 %rd11, %rd1, %rd10;
	ld.global.f32 %f0, [%rd11];`
}

const (
	requests = "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"
	sectors  = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"
)

// Consecutive floats of a warp are one request of 4 sectors of 32 bytes; the
// further apart they lie, the more sectors, up to one for each lane.
func TestCoalescing(t *testing.T) {
	for _, tt := range []struct {
		name, address string
		least, most   float64
	}{
		{"consecutive", "mov.u32 %r10, %r1;", 4, 4},
		{"reversed", "xor.b32 %r10, %r1, 31;", 4, 4},
		{"one for all", "shr.u32 %r10, %r1, 5;", 1, 1},
		{"shifted by one", "add.s32 %r10, %r1, 1;", 5, 5},
		{"stride 2", "shl.b32 %r10, %r1, 1;", 8, 8},
		{"stride 4", "shl.b32 %r10, %r1, 2;", 16, 16},
		{"stride 8", "shl.b32 %r10, %r1, 3;", 32, 32},
		{"stride 32", "shl.b32 %r10, %r1, 5;", 32, 32},
		// The multiplier spreads neighbours over 2^22 elements: two of 32 lanes
		// seldom meet in a sector.
		{"random", "mul.lo.s32 %r10, %r1, 0x9E3779B1; shr.u32 %r10, %r10, 10;", 30, 32},
	} {
		for _, level := range []simengine.Level{simengine.Cycle, simengine.Model} {
			for _, l := range []launch{{level: level}, {ctas: 500, threads: 256, level: level}} {
				m := report(t, kernel("", load(tt.address)), l).Metrics
				warps := float64(max(l.ctas, 1) * max(l.threads/32, 1))
				if m[requests] != warps {
					t.Errorf("%s, %v: %g requests of %g warps", tt.name, level, m[requests], warps)
				}
				if per := m[sectors] / warps; per < tt.least || per > tt.most {
					t.Errorf("%s, %v: %g sectors a request, want %g to %g", tt.name, level, per, tt.least, tt.most)
				}
			}
		}
	}
	// A gather through an index array: its indices are consecutive, what they
	// point to is not.
	gather := load("add.s64 %rd10, %rd1, %rd4; ld.global.u32 %r10, [%rd10];")
	m := report(t, kernel("", gather), launch{ctas: 500, threads: 256, integers: true}).Metrics
	if per := m[sectors] / (500 * 8); m[requests] != 2*500*8 || per < 4+31 || per > 4+32 {
		t.Errorf("gather: %g requests, %g sectors for each warp's two", m[requests], per)
	}
}

// A copy from global to shared memory is one request, whichever side: 2,097,152 of
// gemm_async's with 16 sectors each were counted on an H200
// (deploy/calibrate/datasets/h200-2026-11-21-project-a/counters.jsonl.gz).
func TestCopiesAreOneRequest(t *testing.T) {
	body := `
	shl.b32 %r10, %r0, 4;
	mov.u32 %r11, tile;
	add.s32 %r12, %r11, %r10;
	mul.wide.u32 %rd10, %r10, 1;
	add.s64 %rd11, %rd1, %rd10;
	cp.async.ca.shared.global [%r12], [%rd11], 16;
	cp.async.wait_all;
	ld.shared.f32 %f0, [%r12];`
	for _, level := range []simengine.Level{simengine.Cycle, simengine.Model} {
		m := report(t, kernel(".shared .align 16 .b8 tile[4096];", body), launch{ctas: 500, threads: 256, level: level}).Metrics
		if m[requests] != 500*8 || m[sectors] != 500*8*16 {
			t.Errorf("%v: %g requests and %g sectors of 4000 copies of 16 sectors", level, m[requests], m[sectors])
		}
	}
}

// Lanes of a warp that need different words of one shared memory bank wait for
// each other.
func TestBankConflicts(t *testing.T) {
	const conflicts = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"
	for _, tt := range []struct {
		name, word string
		ways       float64
	}{
		{"row of a [32][32] tile", "mov.u32 %r10, %r0;", 1},
		{"column of a [32][32] tile", "shl.b32 %r10, %r0, 5;", 32},
		{"column of a [32][33] tile", "mul.lo.s32 %r10, %r0, 33;", 1},
		{"every second word", "shl.b32 %r10, %r0, 1;", 2},
		{"every fourth word", "shl.b32 %r10, %r0, 2;", 4},
		{"one word for all", "mov.u32 %r10, 7;", 1},
	} {
		body := tt.word + `
	mov.u32 %r11, tile;
	shl.b32 %r12, %r10, 2;
	add.s32 %r13, %r11, %r12;
	ld.shared.f32 %f0, [%r13];`
		text := kernel(".shared .align 4 .b8 tile[4224];", body)
		for _, level := range []simengine.Level{simengine.Cycle, simengine.Model} {
			if got := report(t, text, launch{level: level}).Metrics[conflicts]; got != tt.ways-1 {
				t.Errorf("%s, %v: %g passes too many, want %g", tt.name, level, got, tt.ways-1)
			}
		}
	}
}

// hungry is a body in which so many values stay alive through a loop.
func hungry(values int) string {
	var b strings.Builder
	for i := range values {
		fmt.Fprintf(&b, "	ld.global.f32 %%f%d, [%%rd1+%d];\n", 10+i, 4*i)
	}
	b.WriteString("	mov.u32 %r10, 0;\nL:\n")
	for i := range values {
		fmt.Fprintf(&b, "	fma.rn.f32 %%f%d, %%f%d, %%f%d, %%f%d;\n", 10+i, 10+i, 10+(i+1)%values, 10+i)
	}
	b.WriteString("	add.s32 %r10, %r10, 1;\n	setp.lt.u32 %p1, %r10, %r2;\n	@%p1 bra L;\n	mov.f32 %f0, 0f00000000;\n")
	for i := range values {
		fmt.Fprintf(&b, "	add.f32 %%f0, %%f0, %%f%d;\n", 10+i)
	}
	return b.String()
}

// An SM has 65,536 registers: the more a thread takes, the fewer threads it holds.
func TestRegistersBoundOccupancy(t *testing.T) {
	text := kernel("", hungry(300))
	for _, tt := range []struct {
		registers, threads int
		limiter            string
	}{{32, 2048, "warps"}, {64, 1024, "registers"}, {255, 256, "registers"}} {
		r := report(t, text, launch{threads: 256, steps: 2, maxRegisters: tt.registers})
		if r.Registers != tt.registers || r.CTAsPerSM*256 != tt.threads || r.Limiter != tt.limiter {
			t.Errorf("%d registers leave %d threads, limited by %s; want %d registers, %d threads, %s",
				r.Registers, r.CTAsPerSM*256, r.Limiter, tt.registers, tt.threads, tt.limiter)
		}
		if want := float64(tt.threads) / 2048; r.Occupancy != want {
			t.Errorf("%d registers: occupancy %g, want %g", r.Registers, r.Occupancy, want)
		}
	}
}

// A register cap below what a kernel needs spills to local memory, through L1.
func TestRegisterCapSpills(t *testing.T) {
	const loads, stores = "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum", "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum"
	text := kernel("", hungry(60))
	free := report(t, text, launch{ctas: 264, threads: 128, steps: 50})
	capped := report(t, text, launch{ctas: 264, threads: 128, steps: 50, maxRegisters: 32})
	if free.SpillBytes != 0 || free.Metrics[loads] != 0 || free.Registers < 60 {
		t.Errorf("without a cap: %d registers, %d bytes spilled, %g sectors", free.Registers, free.SpillBytes, free.Metrics[loads])
	}
	if capped.Registers > 32 || capped.SpillBytes < 4*(60-32) || capped.Metrics[loads] == 0 || capped.Metrics[stores] == 0 {
		t.Errorf("under a cap of 32: %d registers, %d bytes spilled, %g and %g sectors", capped.Registers, capped.SpillBytes, capped.Metrics[loads], capped.Metrics[stores])
	}
	if capped.TimeUS < 1.2*free.TimeUS {
		t.Errorf("spilling takes %.2f us, not spilling %.2f", capped.TimeUS, free.TimeUS)
	}
}

// The constant cache answers a warp one word at a time: one for all lanes is fast,
// one for each lane is 32 times as much work.
func TestConstantsSerialise(t *testing.T) {
	body := func(index string) string {
		return `	mov.f32 %f0, 0f00000000;
	mov.u32 %r10, 0;
	mov.u64 %rd10, table;
L:
	.pragma "nounroll";
	` + index + `
	and.b32 %r11, %r11, 255;
	mul.wide.u32 %rd11, %r11, 4;
	add.s64 %rd12, %rd10, %rd11;
	ld.const.f32 %f10, [%rd12];
	add.f32 %f0, %f0, %f10;
	add.s32 %r10, %r10, 1;
	setp.lt.u32 %p1, %r10, %r2;
	@%p1 bra L;`
	}
	l := launch{ctas: 132 * 4, threads: 256, steps: 256, constants: []simengine.Arg{
		{Name: "table", Elem: ir.F32, Count: 256, Fill: simengine.Fill{Kind: simengine.FillConstant, Value: 1}},
	}}
	const table = ".const .align 4 .b8 table[1024];"
	shared := report(t, kernel(table, body("mov.u32 %r11, %r10;")), l)
	own := report(t, kernel(table, body("add.s32 %r11, %r10, %r0;")), l)
	if own.Bound != "constant" || shared.Bound == "constant" || own.TimeUS < 8*shared.TimeUS {
		t.Errorf("a constant for each lane: %.1f us by %s; one for all: %.1f us by %s", own.TimeUS, own.Bound, shared.TimeUS, shared.Bound)
	}
}

// active is the mean number of lanes that execute the instructions of one step of
// a reduction over 256 threads, of which guard (with the step's number in %r10)
// says in %p1 which leave the step out.
func active(t *testing.T, guard string, step int) float64 {
	t.Helper()
	text := kernel(".shared .align 4 .b8 s[1024];", `	mov.u32 %r11, s;
	shl.b32 %r12, %r0, 2;
	add.s32 %r13, %r11, %r12;
	cvt.rn.f32.u32 %f10, %r0;
	add.f32 %f10, %f10, 0f3F800000; // zeros would take slow paths of their own
	st.shared.f32 [%r13], %f10;
	mov.u32 %r10, 0;
L:
	bar.sync 0;
	setp.ge.u32 %p2, %r10, %r2;
	@%p2 bra DONE;
`+guard+`
	@%p1 bra NEXT;
	ld.shared.f32 %f11, [%r13];
	sqrt.rn.f32 %f12, %f11;
	div.rn.f32 %f13, %f12, 0f40400000;
	sqrt.rn.f32 %f14, %f13;
	div.rn.f32 %f15, %f14, 0f40A00000;
	st.shared.f32 [%r13], %f15;
NEXT:
	add.s32 %r10, %r10, 1;
	bra L;
DONE:
	ld.shared.f32 %f0, [%r13];`)
	count := func(steps int) (threads, warps float64) {
		m := report(t, text, launch{threads: 256, steps: steps}).Metrics
		return m["smsp__thread_inst_executed.sum"], m["smsp__inst_executed.sum"]
	}
	t0, w0 := count(step)
	t1, w1 := count(step + 1)
	return (t1 - t0) / (w1 - w0)
}

// A reduction whose active threads lie apart diverges in every warp from the
// first step; one whose active threads are contiguous only within the last warp,
// which is its last five steps.
func TestReductionDivergence(t *testing.T) {
	interleaved := "mov.u32 %r20, 1; add.s32 %r21, %r10, 1; shl.b32 %r22, %r20, %r21; sub.s32 %r23, %r22, 1; and.b32 %r24, %r0, %r23; setp.ne.u32 %p1, %r24, 0;"
	contiguous := "mov.u32 %r20, 128; shr.u32 %r21, %r20, %r10; setp.ge.u32 %p1, %r0, %r21;"
	for step := range 8 {
		if got := active(t, interleaved, step); got > 31 {
			t.Errorf("interleaved, step %d: %.2f lanes active", step, got)
		}
		got := active(t, contiguous, step)
		if diverges := got < 32; diverges != (step >= 3) {
			t.Errorf("contiguous, step %d of 8: %.2f lanes active", step, got)
		}
	}
}

const copyBody = `	add.s64 %rd10, %rd1, %rd4;
	ld.global.f32 %f0, [%rd10];`

// quartet is a body that copies four floats a thread, a grid apart.
func quartet(threads int) string {
	var b strings.Builder
	for k := range 4 {
		fmt.Fprintf(&b, "	ld.global.f32 %%f%d, [%%rd10+%d];\n", 10+k, 4*threads*k)
	}
	for k := 1; k < 4; k++ {
		fmt.Fprintf(&b, "	st.global.f32 [%%rd5+%d], %%f%d;\n", 4*threads*k, 10+k)
	}
	return "	add.s64 %rd10, %rd1, %rd4;\n" + b.String() + "	mov.f32 %f0, %f10;"
}

// A copy is bound by DRAM, a loop of sines by the special-function unit.
func TestBounds(t *testing.T) {
	sines := `	cvt.rn.f32.u32 %f0, %r0;
	mov.u32 %r10, 0;
L:
	sin.approx.f32 %f0, %f0;
	add.s32 %r10, %r10, 1;
	setp.lt.u32 %p1, %r10, %r2;
	@%p1 bra L;`
	for _, tt := range []struct {
		name, body, bound string
		l                 launch
	}{
		{"copy", quartet(1 << 22), "dram", launch{ctas: 1 << 14, threads: 256}},
		{"sines", sines, "xu", launch{ctas: 132 * 8, threads: 256, steps: 500}},
	} {
		for _, level := range []simengine.Level{simengine.Cycle, simengine.Model} {
			tt.l.level = level
			r := report(t, kernel("", tt.body), tt.l)
			if r.Bound != tt.bound || r.Use[0].Name != tt.bound || r.Use[0].Value < 0.6 {
				t.Errorf("%s, %v: bound by %s, use %v; want %s", tt.name, level, r.Bound, r.Use[0], tt.bound)
			}
		}
	}
}

// Two warps on an SM leave it waiting for DRAM; sixteen hide much of the wait.
func TestWarpsHideLatency(t *testing.T) {
	const threads = 1 << 20
	text := kernel(".extern .shared .align 4 .b8 rest[];", copyBody)
	var last *simengine.Report
	for _, warps := range []int{2, 16} {
		// All of the shared memory for one CTA: nothing else on its SM.
		r := report(t, text, launch{ctas: threads / (32 * warps), threads: 32 * warps, shared: 200 << 10})
		if r.CTAsPerSM != 1 {
			t.Fatalf("%d CTAs on an SM", r.CTAsPerSM)
		}
		if warps == 2 && r.Bound != "latency" {
			t.Errorf("two warps: bound by %s", r.Bound)
		}
		if last != nil && r.TimeUS > last.TimeUS/4 {
			t.Errorf("%d warps take %.1f us, two %.1f", warps, r.TimeUS, last.TimeUS)
		}
		last = r
	}
}

// Every issue slot is accounted for: what issued and why nothing did.
func TestSlotsAddUp(t *testing.T) {
	r := report(t, kernel("", copyBody), launch{ctas: 1000, threads: 256})
	sum := 0.0
	for _, s := range r.Slots {
		sum += s.Value
	}
	if math.Abs(sum-1) > 1e-9 {
		t.Errorf("issue slots add up to %g: %v", sum, r.Slots)
	}
}
