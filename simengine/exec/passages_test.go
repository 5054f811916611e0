package exec

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine/exec/element"
	"github.com/warptune/warptune/simengine/exec/mbarrier"
	"github.com/warptune/warptune/simengine/exec/memory"
	"github.com/warptune/warptune/simengine/exec/tensormap"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/trace"
)

// asyncEvent is an asynchronous operation as the journal keeps it, and a digest of its ranges.
type asyncEvent struct {
	trace.Async
	ranges string
}

// asyncJournal is a journal of asynchronous operations too.
type asyncJournal struct {
	journal
	async map[int][]asyncEvent
}

func newAsyncJournal() *asyncJournal {
	return &asyncJournal{*newJournal(), map[int][]asyncEvent{}}
}

func (j *asyncJournal) Restart() {
	j.journal.Restart()
	clear(j.async)
}

// Async keeps the operation, and in the journal an event in its place.
func (j *asyncJournal) Async(w int, a trace.Async, ranges []Range) {
	j.async[w] = append(j.async[w], asyncEvent{a, fmt.Sprint(ranges)})
	e := event{block: -2, pc: int(a.PC), width: int(a.Bytes), mask: uint32(a.Lanes)}
	e.addr[0], e.addr[1], e.addr[2] = uint64(a.Barrier), uint64(a.CTA), uint64(a.Parity)
	for i, x := range ranges {
		e.addr[3+i%29] = e.addr[3+i%29]*31 + x.Addr + uint64(x.Bytes)
	}
	j.warps[w] = append(j.warps[w], e)
}

// runAsync runs one CTA and returns its events.
func runAsync(t testing.TB, p *problem, prog *Program, cta int64, opt Options) *asyncJournal {
	t.Helper()
	p.mem.Reset()
	j := newAsyncJournal()
	if err := NewRunner(prog).Run(p.launch, p.mem, cta, opt, j); err != nil {
		t.Fatal(err)
	}
	return j
}

// replay plays the operations on mbarriers of a CTA's warps, waits included, and returns an error if
// they wait for each other without end. Bulk copies complete at once.
func replay(k *ir.Kernel, j *asyncJournal) error {
	barriers := map[uint32]*mbarrier.Barrier{}
	at := func(addr uint32) *mbarrier.Barrier {
		if barriers[addr] == nil {
			barriers[addr] = &mbarrier.Barrier{}
		}
		return barriers[addr]
	}
	next := map[int]int{}
	for _, list := range j.async { // set up before anything waits
		for _, a := range list {
			if k.Instrs[a.PC].Op == ir.MbarInit {
				if err := at(a.Barrier).Init(int64(a.Count)); err != nil {
					return err
				}
			}
		}
	}
	var warps []int
	ops := map[int][]asyncEvent{}
	for w := range j.warps {
		warps = append(warps, w)
		ops[w] = withBarriers(k, j, w)
	}
	slices.Sort(warps)
	arrived, waits := map[uint32]int{}, map[int]bool{}
	for moved := true; moved; {
		moved = false
		for _, w := range warps {
			for next[w] < len(ops[w]) {
				a := &ops[w][next[w]]
				var err error
				switch b := at(a.Barrier); k.Instrs[a.PC].Op {
				case ir.Bar:
					need, live := int(a.Count), 0
					for _, v := range warps {
						if next[v] < len(ops[v]) {
							live++
						}
					}
					if !waits[w] {
						waits[w] = true
						arrived[a.Barrier]++
					}
					if need == 0 {
						need = live
					}
					if arrived[a.Barrier] < need {
						err = fmt.Errorf("waits")
						break
					}
					arrived[a.Barrier] = 0
					for _, v := range warps { // the others go on too
						if n := next[v]; v != w && waits[v] && ops[v][n].Barrier == a.Barrier {
							waits[v] = false
							next[v]++
						}
					}
					waits[w] = false
				case ir.MbarWait:
					if !b.CompletedParity(a.Parity) {
						err = fmt.Errorf("waits")
					}
				case ir.MbarArrive:
					if k.Instrs[a.PC].Mod&ir.ModTx != 0 {
						b.ExpectTx(int64(a.Bytes))
					}
					if int64(b.Pending) < int64(a.Count)*int64(a.Lanes) {
						return fmt.Errorf("warp %d: too many arrivals at %d", w, a.Barrier)
					}
					b.Arrive(int64(a.Count) * int64(a.Lanes))
				case ir.BulkCopy:
					if a.Barrier != trace.NoBarrier {
						if _, err := b.CompleteTx(int64(a.Bytes)); err != nil {
							return err
						}
					}
				}
				if err != nil {
					break
				}
				next[w]++
				moved = true
			}
		}
	}
	for _, w := range warps {
		if n := next[w]; n < len(ops[w]) {
			return fmt.Errorf("warp %d waits at operation %d of %d: %+v, %+v", w, n, len(ops[w]), ops[w][n], barriers[ops[w][n].Barrier])
		}
	}
	return nil
}

// withBarriers lists a warp's asynchronous operations with the barriers of the CTA among them.
func withBarriers(k *ir.Kernel, j *asyncJournal, w int) (list []asyncEvent) {
	n := 0
	events := j.warps[w]
	for i, e := range events {
		if e.block < 0 || e.repeat > 0 {
			continue
		}
		first := len(list)
		for _, f := range events[i+1:] {
			if f.block >= 0 {
				break
			}
			if f.block == -2 {
				list = append(list, j.async[w][n])
				n++
			}
		}
		for pc := k.Blocks[e.block].Start; pc < k.Blocks[e.block].End; pc++ {
			if in := &k.Instrs[pc]; in.Op == ir.Bar {
				b := asyncEvent{Async: trace.Async{PC: int32(pc), Barrier: 1 << 30}}
				if len(in.Src) > 0 {
					b.Barrier += uint32(in.Src[0].Imm)
				}
				if len(in.Src) > 1 {
					b.Count = int32(in.Src[1].Imm) / WarpSize
				}
				list = append(list, b)
			}
		}
		slices.SortStableFunc(list[first:], func(a, b asyncEvent) int { return int(a.PC - b.PC) })
	}
	return list
}

// checkSampling compares a sampled CTA with one of which all iterations are executed, and returns how
// many iterations were left out.
func checkSampling(t *testing.T, p *problem, cta int64) (left int64) {
	t.Helper()
	prog := compileFor(t, p.kernel, Slice)
	whole := runAsync(t, p, prog, cta, Options{})
	sampled := runAsync(t, p, prog, cta, Options{LoopSample: 2})
	for w := range whole.warps {
		if err := cutMatches(whole.warps[w], sampled.warps[w]); err != nil {
			t.Errorf("warp %d: %v", w, err)
		}
		for _, e := range sampled.warps[w] {
			left += e.repeat
		}
	}
	for name, j := range map[string]*asyncJournal{"whole": whole, "sampled": sampled} {
		if err := replay(p.kernel, j); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	return left
}

// TestHopperSampling checks sampling on measured launches.
func TestHopperSampling(t *testing.T) {
	seen, left := map[string]int{}, map[string]int64{}
	for _, r := range hopperRecords(t) {
		if seen[r.Kernel]++; seen[r.Kernel]%10 != 1 && os.Getenv("WARPTUNE_ALL") == "" {
			continue
		}
		p := hopperProblem(t, &r)
		if p.launch.Cluster.Count() > 1 {
			continue
		}
		t.Run(r.PTX, func(t *testing.T) { left[r.Kernel] += checkSampling(t, p, p.launch.Grid.Count()/2) })
	}
	for _, k := range []string{"gemm_ws", "gemm_wg", "mm_host_desc", "bulk_stream", "row_softmax"} {
		if left[k] == 0 {
			t.Errorf("no loop of %s was sampled", k)
		}
	}
	t.Log(left)
}

// pipeline writes random loops of a producer and consumers that pass stages of a buffer to each other
// through mbarriers.
type pipeline struct {
	r      *rand.Rand
	b      strings.Builder
	stages int
	trips  int
	label  int
}

func (g *pipeline) f(format string, args ...any) { fmt.Fprintf(&g.b, "\t"+format+"\n", args...) }

// advance updates the stage (%r10+n) and the parity (%r20+n), in one of several ways.
func (g *pipeline) advance(n, form int) {
	stage, parity := 10+n, 20+n
	switch form {
	case 0: // selp
		g.f("add.s32 %%r40, %%r%d, 1;", stage)
		g.f("setp.eq.s32 %%p4, %%r40, %d;", g.stages)
		g.f("selp.b32 %%r%d, 0, %%r40, %%p4;", stage)
		g.f("selp.u32 %%r41, 1, 0, %%p4;")
		g.f("xor.b32 %%r%d, %%r%d, %%r41;", parity, parity)
	case 1: // a guard
		g.f("add.s32 %%r%d, %%r%d, 1;", stage, stage)
		g.f("setp.eq.s32 %%p4, %%r%d, %d;", stage, g.stages)
		g.f("@%%p4 xor.b32 %%r%d, %%r%d, 1;", parity, parity)
		g.f("@%%p4 mov.u32 %%r%d, 0;", stage)
	case 2: // a branch
		g.label++
		g.f("add.s32 %%r%d, %%r%d, 1;", stage, stage)
		g.f("setp.ne.s32 %%p4, %%r%d, %d;", stage, g.stages)
		g.f("@%%p4 bra same%d;", g.label)
		g.f("xor.b32 %%r%d, %%r%d, 1;", parity, parity)
		g.f("mov.u32 %%r%d, 0;", stage)
		fmt.Fprintf(&g.b, "same%d:\n", g.label)
	case 3: // of the induction (%r1)
		g.f("add.s32 %%r40, %%r1, 1;")
		g.f("rem.u32 %%r%d, %%r40, %d;", stage, g.stages)
		g.f("div.u32 %%r41, %%r40, %d;", g.stages)
		g.f("and.b32 %%r%d, %%r41, 1;", parity)
	}
}

// derive computes the stage and the parity from the induction (%r1).
func (g *pipeline) derive(n int) {
	if g.stages&(g.stages-1) == 0 {
		g.f("and.b32 %%r%d, %%r1, %d;", 10+n, g.stages-1)
		g.f("shr.u32 %%r41, %%r1, %d;", bits.TrailingZeros(uint(g.stages)))
	} else {
		g.f("rem.u32 %%r%d, %%r1, %d;", 10+n, g.stages)
		g.f("div.u32 %%r41, %%r1, %d;", g.stages)
	}
	g.f("and.b32 %%r%d, %%r41, 1;", 20+n)
}

// wait spins on barrier base + 8*stage.
func (g *pipeline) wait(base, n int, flip bool) {
	parity := fmt.Sprintf("%%r%d", 20+n)
	if flip {
		g.f("xor.b32 %%r42, %%r%d, 1;", 20+n)
		parity = "%r42"
	}
	g.f("shl.b32 %%r43, %%r%d, 3;", 10+n)
	g.f("add.s32 %%r43, %%r43, %d;", base)
	g.label++
	fmt.Fprintf(&g.b, "wait%d:\n", g.label)
	g.f("mbarrier.try_wait.parity.shared::cta.b64 %%p1, [%%r43], %s;", parity)
	switch g.r.IntN(3) {
	case 0:
		g.f("@!%%p1 bra wait%d;", g.label)
	case 1:
		g.f("selp.u32 %%r44, 1, 0, %%p1;")
		g.f("setp.eq.s32 %%p2, %%r44, 0;")
		g.f("@%%p2 bra wait%d;", g.label)
	case 2:
		g.f("@%%p1 bra done%d;", g.label)
		g.f("bra wait%d;", g.label)
		fmt.Fprintf(&g.b, "done%d:\n", g.label)
	}
}

// kernel writes a kernel: warp 0 produces, the others consume. Full barriers lie at 4096, empty ones
// at 4096+128, data below.
func (g *pipeline) kernel(consumers int) string {
	g.f("mov.u32 %%r0, %%tid.x;")
	g.f("ld.param.u64 %%rd0, [out];")
	g.f("setp.ne.s32 %%p0, %%r0, 0;")
	g.f("@%%p0 bra ready;")
	for s := range g.stages {
		g.f("mov.u32 %%r2, %d;", 4096+8*s)
		g.f("mbarrier.init.shared::cta.b64 [%%r2], 1;")
		g.f("mov.u32 %%r2, %d;", 4096+128+8*s)
		g.f("mbarrier.init.shared::cta.b64 [%%r2], %d;", consumers)
	}
	g.b.WriteString("ready:\n")
	g.f("bar.sync 0;")
	g.f("shr.u32 %%r3, %%r0, 5;")
	g.f("and.b32 %%r4, %%r0, 31;")
	g.f("mov.u32 %%r1, 0;")
	g.f("mov.u32 %%r30, 0;")
	for n := range 2 {
		g.f("mov.u32 %%r%d, 0;", 10+n)
		g.f("mov.u32 %%r%d, 0;", 20+n)
	}
	g.f("setp.ne.s32 %%p3, %%r3, 0;")
	g.f("@%%p3 bra consume;")
	g.f("@%%p0 bra end;")
	g.b.WriteString("produce:\n")
	form := g.r.IntN(5)
	if form == 4 {
		g.derive(0)
	}
	g.wait(4096+128, 0, true)
	g.f("shl.b32 %%r45, %%r10, 3;")
	g.f("add.s32 %%r45, %%r45, 4096;")
	g.f("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%%r45], 16;")
	g.f("shl.b32 %%r46, %%r10, 4;")
	g.f("mul.wide.u32 %%rd1, %%r1, 16;")
	g.f("add.s64 %%rd1, %%rd1, %%rd0;")
	g.f("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%%r46], [%%rd1], 16, [%%r45];")
	g.advance(0, form)
	g.f("add.s32 %%r1, %%r1, 1;")
	g.f("setp.lt.s32 %%p5, %%r1, %d;", g.trips)
	g.f("@%%p5 bra produce;")
	g.f("bra last;")
	g.b.WriteString("consume:\n")
	if form = g.r.IntN(5); form == 4 {
		g.derive(0)
	}
	g.wait(4096, 0, false)
	g.f("shl.b32 %%r46, %%r10, 4;")
	g.f("ld.shared.u32 %%r47, [%%r46];")
	if g.r.IntN(3) == 0 { // something is counted once in each round of the stages, and ends something else
		g.label++
		g.f("setp.ne.s32 %%p4, %%r10, %d;", g.r.IntN(g.stages))
		g.f("@%%p4 bra uncounted%d;", g.label)
		g.f("add.s32 %%r30, %%r30, 1;")
		fmt.Fprintf(&g.b, "uncounted%d:\n", g.label)
		g.f("setp.lt.s32 %%p4, %%r30, %d;", g.r.IntN(1+g.trips/g.stages))
		g.f("@%%p4 st.shared.u32 [%%r46+2048], %%r30;")
	}
	delayed := g.stages > 1 && g.r.IntN(2) == 0 // the stage before is given back
	if delayed {
		g.f("setp.ne.s32 %%p6, %%r4, 0;")
		g.f("setp.eq.s32 %%p7, %%r1, 0;")
		g.f("or.pred %%p6, %%p6, %%p7;")
		g.f("@%%p6 bra kept;")
		g.f("shl.b32 %%r48, %%r11, 3;")
	} else {
		g.f("setp.ne.s32 %%p6, %%r4, 0;")
		g.f("@%%p6 bra kept;")
		g.f("shl.b32 %%r48, %%r10, 3;")
	}
	g.f("add.s32 %%r48, %%r48, %d;", 4096+128)
	g.f("mbarrier.arrive.shared::cta.b64 _, [%%r48];")
	g.b.WriteString("kept:\n")
	g.f("mov.u32 %%r11, %%r10;")
	g.advance(0, form)
	g.f("add.s32 %%r1, %%r1, 1;")
	g.f("setp.lt.s32 %%p5, %%r1, %d;", g.trips)
	g.f("@%%p5 bra consume;")
	g.b.WriteString("last:\n") // the registers at the end, as addresses
	for _, reg := range []int{1, 10, 11, 20, 30} {
		g.f("mul.wide.u32 %%rd2, %%r%d, 4;", reg)
		g.f("add.s64 %%rd2, %%rd2, %%rd0;")
		g.f("st.global.u32 [%%rd2], %%r%d;", reg)
	}
	g.b.WriteString("end:\n")
	return ".version 8.5\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u64 in)\n{\n" +
		"\t.reg .pred %p<8>;\n\t.reg .b32 %r<50>;\n\t.reg .b64 %rd<4>;\n\t.shared .align 16 .b8 buf[8192];\n\tmov.u32 %r49, buf;\n" + g.b.String() + "\tret;\n}\n"
}

// TestPipelines compares random pipelined loops, sampled, with the same executed whole.
func TestPipelines(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	sampled := 0
	const runs = 100
	for n := range runs {
		r := rand.New(rand.NewPCG(seed, uint64(n)))
		g := pipeline{r: r, stages: 1 + r.IntN(6), trips: 1 + r.IntN(120)}
		consumers := 1 + r.IntN(3)
		text := g.kernel(consumers)
		k := buildKernel(t, "k.ptx", []byte(text))
		l, m := launchBody(t, k, 32*(1+consumers))
		p := &problem{kernel: k, launch: l, mem: m}
		left := checkSampling(t, p, 0)
		if t.Failed() {
			t.Fatalf("run %d of seed %d: %d stages, %d trips\n%s", n, seed, g.stages, g.trips, text)
		}
		if left > 0 {
			sampled++
		} else if g.trips > 80 {
			t.Logf("run %d: nothing is left out of %d trips of %d stages", n, g.trips, g.stages)
		}
	}
	if sampled < runs/6 {
		t.Errorf("only %d of %d were sampled", sampled, runs)
	}
	t.Logf("%d of %d sampled", sampled, runs)
}

// TestBlockingSlice runs the slice of a kernel whose addresses depend on data that a bulk copy brings
// and that a warp passes to others: it must touch what Full mode touches.
func TestBlockingSlice(t *testing.T) {
	body := initBar + `
	@%p7 mbarrier.init.shared::cta.b64 [%r63+8], 32;
	bar.sync 0;
	setp.lt.u32 %p1, %r0, 32;
	@%p1 bra consume;
	setp.ne.u32 %p2, %r0, 32;
	@%p2 bra passed;
	mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r63], 128;
	cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r62], [%rd1], 128, [%r63];
passed:` + waitBar + `
	shl.b32 %r10, %r0, 2;
	add.s32 %r11, %r62, %r10;
	ld.shared.u32 %r12, [%r11-128];
	xor.b32 %r12, %r12, 12;
	st.shared.u32 [%r11], %r12;
	mbarrier.arrive.shared::cta.b64 _, [%r63+8];
	bra done;
consume:
	mbarrier.try_wait.parity.shared::cta.b64 %p0, [%r63+8], 0;
	@!%p0 bra consume;
	shl.b32 %r10, %r0, 2;
	add.s32 %r11, %r62, %r10;
	ld.shared.u32 %r12, [%r11+128];
	mul.wide.u32 %rd5, %r12, 4;
	add.s64 %rd5, %rd5, %rd0;
	st.global.u32 [%rd5], %r0;
done:`
	k := buildKernel(t, "k.ptx", []byte(asyncKernel("", body)))
	m := memory.New(0)
	for _, b := range []memory.Buffer{{Name: "out", Elem: ir.U32, Count: 64, Fill: memory.Fill{}}, {Name: "in", Elem: ir.U32, Count: 64, Fill: memory.Generated(func(i int64) float64 { return float64((i * 7) % 32) })}} {
		if _, err := m.Alloc(b); err != nil {
			t.Fatal(err)
		}
	}
	params, err := m.BindParams(k, []memory.Arg{{Buffer: "out"}, {Buffer: "in"}, {Bytes: make([]byte, 128)}, {Elem: ir.S32}, {Elem: ir.S32}})
	if err != nil {
		t.Fatal(err)
	}
	p := &problem{kernel: k, mem: m, launch: Launch{Grid: Dim3{1, 1, 1}, CTA: Dim3{64, 1, 1}, Params: params}}
	slice, full := compileFor(t, k, Slice), compileFor(t, k, Full)
	want, got := runAsync(t, p, full, 0, Options{Races: true}), runAsync(t, p, slice, 0, Options{LoopSample: 2})
	for w := range want.warps {
		if fmt.Sprint(want.warps[w]) != fmt.Sprint(got.warps[w]) {
			t.Errorf("warp %d: slice and full traces differ", w)
		}
	}
	p.launch.Grid, p.launch.Cluster = Dim3{2, 1, 1}, Dim3{2, 1, 1}
	for cta := range int64(2) {
		got := runAsync(t, p, slice, cta, Options{LoopSample: 2})
		for w := range want.warps {
			if fmt.Sprint(want.warps[w]) != fmt.Sprint(got.warps[w]) {
				t.Errorf("CTA %d of a cluster, warp %d: slice and full traces differ", cta, w)
			}
		}
	}
}

// TestClusterSlice runs the slice of a kernel whose addresses depend on what the other CTA of a cluster
// stores in shared memory.
func TestClusterSlice(t *testing.T) {
	body := `
	mov.u32 %r20, %cluster_ctarank;
	xor.b32 %r21, %r20, 1;
	mapa.shared::cluster.u32 %r22, %r62, %r21;
	shl.b32 %r10, %r0, 2;
	add.s32 %r22, %r22, %r10;
	mad.lo.u32 %r12, %r20, 64, %r0;
	st.shared::cluster.u32 [%r22], %r12;
	barrier.cluster.arrive.aligned;
	barrier.cluster.wait.aligned;
	add.s32 %r11, %r62, %r10;
	ld.shared.u32 %r12, [%r11];
	mul.wide.u32 %rd5, %r12, 4;
	add.s64 %rd5, %rd5, %rd0;
	st.global.u32 [%rd5], %r0;`
	k := buildKernel(t, "k.ptx", []byte(asyncKernel("", body)))
	l, m := launchBody2(t, k)
	l.Grid, l.CTA, l.Cluster = Dim3{4, 1, 1}, Dim3{64, 1, 1}, Dim3{2, 1, 1}
	r := NewRunner(compileFor(t, k, Slice))
	for cta := range int64(4) {
		var s placed
		if err := r.Run(l, m, cta, Options{}, &s); err != nil {
			t.Fatal(err)
		}
		if len(s.at) != 64 {
			t.Fatalf("CTA %d: %d stores, want 64", cta, len(s.at))
		}
		slices.Sort(s.at)
		for i, at := range s.at {
			if want := s.at[0] + 4*uint64(i); at != want {
				t.Errorf("CTA %d stores at %#x, want %#x", cta, at, want)
			}
		}
		if first := s.at[0] & 0xff00 >> 8 & 1; first != uint64(1-cta%2) {
			t.Errorf("CTA %d stores what it was not given, at %#x", cta, s.at[0])
		}
	}
}

// placed is the addresses that a CTA stores at in device memory.
type placed struct {
	listener
	at []uint64
}

func (s *placed) Access(_, _ int, space ir.Space, _ int, mask uint32, addr *[WarpSize]uint64) {
	for l := range WarpSize {
		if space == ir.Global && mask>>l&1 != 0 {
			s.at = append(s.at, addr[l])
		}
	}
}

// listener is an observer that keeps nothing.
type listener struct{ n int }

func (s *listener) Step(int, int, uint32)                                     { s.n++ }
func (s *listener) Repeat(int, int, int64)                                    {}
func (s *listener) Restart()                                                  {}
func (s *listener) Access(int, int, ir.Space, int, uint32, *[WarpSize]uint64) {}
func (s *listener) Async(_ int, _ trace.Async, ranges []Range)                { s.n += len(ranges) }

// TestAsyncAllocations: the slice of a pipeline, with bulk copies, boxes of tensors and mbarriers,
// allocates nothing once its buffers are there.
func TestAsyncAllocations(t *testing.T) {
	g := pipeline{r: rand.New(rand.NewPCG(1, 2)), stages: 4, trips: 60}
	boxes := asyncKernel("", initBar+`
	mov.u32 %r20, 0;
more:
	@!%p7 bra copied;
	mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r63], 512;
	cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r62], [%rd2, {%r20, %r61}], [%r63];
copied:`+waitBar+`
	add.s32 %r20, %r20, 1;
	setp.lt.u32 %p3, %r20, 50;
	@%p3 bra more;`)
	for name, text := range map[string]string{"pipeline": g.kernel(2), "boxes": boxes} {
		k := buildKernel(t, "k.ptx", []byte(text))
		prog := compileFor(t, k, Slice)
		l, m := launchBody2(t, k)
		r, obs := NewRunner(prog), &listener{}
		run := func() {
			if err := r.Run(l, m, 0, Options{LoopSample: 2}, obs); err != nil {
				t.Fatal(err)
			}
		}
		run()
		if n := testing.AllocsPerRun(10, run); n > 0 {
			t.Errorf("%s: %v allocations a run", name, n)
		}
	}
}

// launchBody2 is a launch of 96 threads with buffers and a tensor map for its parameters.
func launchBody2(t *testing.T, k *ir.Kernel) (Launch, *memory.Device) {
	t.Helper()
	m := memory.New(0)
	params := make([]byte, memory.ParamBytes(k))
	for i, p := range k.Params {
		addr, err := m.Alloc(memory.Buffer{Name: fmt.Sprint(i), Elem: ir.U32, Count: 1 << 12, Fill: memory.Fill{}})
		if err != nil {
			t.Fatal(err)
		}
		switch p.Size {
		case 8:
			element.Store(params[p.Offset:], addr, 8)
		case tensormap.Bytes:
			tm := tensormap.Map{Address: addr, Elem: tensormap.F32, Rank: 2, Shape: [5]uint32{64, 20}, Strides: [4]uint64{256}, Box: [5]int{16, 8}, ElementStrides: [5]int{1, 1}}
			raw := tm.Encode()
			copy(params[p.Offset:], raw[:])
		}
	}
	return Launch{Grid: Dim3{1, 1, 1}, CTA: Dim3{96, 1, 1}, Params: params}, m
}

// A barrier whose number is in a register is told with its number, by warp; one whose number is in the instruction is not.
func TestBarrierNumbersAreTold(t *testing.T) {
	k := buildKernel(t, "k.ptx", []byte(asyncKernel("", `
	shr.u32 %r10, %r0, 5;
	add.s32 %r10, %r10, 3;
	bar.sync %r10, 32;
	bar.sync 0;`)))
	m := memory.New(0)
	for _, name := range []string{"out", "in"} {
		if _, err := m.Alloc(memory.Buffer{Name: name, Elem: ir.U32, Count: 64, Fill: memory.Fill{}}); err != nil {
			t.Fatal(err)
		}
	}
	params, err := m.BindParams(k, []memory.Arg{{Buffer: "out"}, {Buffer: "in"}, {Bytes: make([]byte, 128)}, {Elem: ir.S32}, {Elem: ir.S32}})
	if err != nil {
		t.Fatal(err)
	}
	p := &problem{kernel: k, mem: m, launch: Launch{Grid: Dim3{1, 1, 1}, CTA: Dim3{64, 1, 1}, Params: params}}
	j := runAsync(t, p, compileFor(t, k, Slice), 0, Options{})
	for w := range 2 {
		var numbers []int32
		for _, e := range j.async[w] {
			if k.Instrs[e.PC].Op == ir.Bar {
				numbers = append(numbers, e.Count)
			}
		}
		if len(numbers) != 1 || numbers[0] != int32(3+w) {
			t.Errorf("warp %d: barriers %v are told, want %d", w, numbers, 3+w)
		}
	}
}
