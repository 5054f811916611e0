package clock

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"testing"

	"github.com/warptune/warptune/deploy/calibrate/results/measured"
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/timing"
	"github.com/warptune/warptune/simengine/trace"
)

// async is a hand-made kernel of the asynchronous units, one block a warp, and what its warps do in turn.
type async struct {
	program
	warps []trace.Warp
}

// warp begins the next warp, in a block of its own.
func (p *async) warp() {
	b := p.block()
	p.warps = append(p.warps, trace.Warp{Steps: []trace.Step{{Block: int32(b), Mask: ^uint32(0)}}})
}

// do adds an instruction to the present warp.
func (p *async) do(c assemble.Class, in ir.Instr) int32 {
	pc := p.emit(c, in.Op, in.Space, -1)
	in.Target = -1
	p.kernel.Instrs[pc] = in
	return pc
}

// at adds one that names an mbarrier or copies.
func (p *async) at(c assemble.Class, in ir.Instr, a trace.Async) {
	a.PC = p.do(c, in)
	if a.CTA == 0 {
		a.CTA = -1
	}
	a.Lanes = max(a.Lanes, 1)
	w := &p.warps[len(p.warps)-1]
	w.Asyncs = append(w.Asyncs, a)
}

func (p *async) init(bar uint32, count int32) {
	p.at(assemble.Mbarrier, ir.Instr{Op: ir.MbarInit}, trace.Async{Barrier: bar, Count: count})
}

func (p *async) arrive(bar uint32, bytes int32) {
	in := ir.Instr{Op: ir.MbarArrive}
	if bytes > 0 {
		in.Mod = ir.ModTx
	}
	p.at(assemble.Mbarrier, in, trace.Async{Barrier: bar, Count: 1, Bytes: bytes})
}

func (p *async) wait(bar uint32, parity uint8) {
	p.at(assemble.MbarWait, ir.Instr{Op: ir.MbarWait, Mod: ir.ModParity}, trace.Async{Barrier: bar, Parity: parity})
}

// load copies bytes from the n-th row of device memory.
func (p *async) load(bar uint32, row uint64, bytes int32) {
	p.at(assemble.Bulk, ir.Instr{Op: ir.BulkCopy, Space: ir.Shared, Bulk: &ir.Bulk{To: ir.Shared, From: ir.Global, Barrier: true}}, trace.Async{Barrier: bar, Bytes: bytes})
	w := &p.warps[len(p.warps)-1]
	a := trace.Access{PC: int32(len(p.kernel.Instrs) - 1), Space: ir.Global, Width: 16, Mask: 1, Passes: 1, Ideal: 1, First: int32(len(w.Lines)), MaxSame: 1}
	for at := int32(0); at < bytes; at += 128 {
		l := trace.Line{Addr: row + uint64(at/128), Sectors: uint8(1<<((min(bytes-at, 128)+31)/32) - 1)}
		a.Sectors += uint16(bits.OnesCount8(l.Sectors))
		w.Lines = append(w.Lines, l)
		a.NLines++
	}
	w.Accesses = append(w.Accesses, a)
}

func (p *async) barrier(number, warps int) {
	in := ir.Instr{Op: ir.Bar, Src: []ir.Operand{{Kind: ir.OperandImm, Imm: uint64(number)}}}
	if warps > 0 {
		in.Src = append(in.Src, ir.Operand{Kind: ir.OperandImm, Imm: uint64(32 * warps)})
	}
	p.do(assemble.Barrier, in)
}

func (p *async) cluster(mod ir.Mod) {
	p.do(assemble.ClusterBarrier, ir.Instr{Op: ir.ClusterBarrier, Mod: ir.ModArrive | mod})
	p.do(assemble.ClusterBarrier, ir.Instr{Op: ir.ClusterBarrier})
}

// products starts n products and waits for them.
func (p *async) products(n, columns int, fromShared bool) {
	for range n {
		p.do(assemble.Wgmma, ir.Instr{Op: ir.Wgmma, Matrix: &ir.Matrix{M: 64, N: columns, K: 16, Group: true, FromShared: fromShared}})
	}
	p.do(assemble.Control, ir.Instr{Op: ir.WgmmaCommit})
	p.do(assemble.Control, ir.Instr{Op: ir.WgmmaWait, Src: []ir.Operand{{Kind: ir.OperandImm}}})
}

// busy keeps the warp busy for so many cycles.
func (p *async) busy(cycles int) {
	for range cycles / 4 {
		p.emit(assemble.ALU, ir.Add, 0, 1, 1)
	}
}

// rowsOfCTA is the rows of device memory that a CTA has for itself.
const rowsOfCTA = 1024

// cycles is how long one CTA takes on a GPU, or one cluster of them.
func (p *async) cycles(t *testing.T, gpu string, cluster int) float64 {
	t.Helper()
	return p.cyclesOf(t, gpu, cluster, cluster)
}

// cyclesOf is how long so many CTAs take, each with rows of its own.
func (p *async) cyclesOf(t *testing.T, gpu string, cluster, ctas int) float64 {
	t.Helper()
	return p.resultOf(t, gpu, cluster, ctas).Cycles
}

func (p *async) resultOf(t *testing.T, gpu string, cluster, ctas int) *timing.Result {
	t.Helper()
	d, err := arch.Load(gpu)
	if err != nil {
		t.Fatal(err)
	}
	p.kernel.Module = &ir.Module{Target: "sm_90a"}
	tr := func(cta int64, _ int) *trace.CTA {
		c := &trace.CTA{ID: cta, Warps: make([]trace.Warp, len(p.warps))}
		copy(c.Warps, p.warps)
		for i := range c.Warps {
			w := &c.Warps[i]
			w.Lines = slices.Clone(w.Lines)
			for k := range w.Lines {
				w.Lines[k].Addr += uint64(cta) * rowsOfCTA
			}
		}
		return c
	}
	in := input(d, &p.program, tr, ctas, 1, len(p.warps))
	in.Cluster = cluster
	in.Extents = []timing.Extent{{First: 0, Last: max(1<<12, uint64(ctas)*rowsOfCTA)}}
	return run(t, in)
}

// exit ends the present warp.
func (p *async) exit() { p.emit(assemble.Exit, ir.Exit, 0, -1) }

// difference is how much longer a kernel takes with one more of what each adds.
func difference(t *testing.T, gpu string, cluster int, make func(n int) *async) float64 {
	t.Helper()
	const few, many = 4, 12
	return (make(many).cycles(t, gpu, cluster) - make(few).cycles(t, gpu, cluster)) / (many - few)
}

func within(t *testing.T, what string, got, want, share float64) {
	t.Helper()
	if math.Abs(got-want) > share*want {
		t.Errorf("%s: %.1f cycles, measured %.1f", what, got, want)
	}
}

// A warpgroup's products take the cycles measured, one after another.
func TestProductsOfWarpgroups(t *testing.T) {
	group := func(rounds, n, columns int, fromShared bool) *async {
		p := &async{}
		for range 4 {
			p.warp()
			for range rounds {
				p.products(n, columns, fromShared)
			}
			p.exit()
		}
		return p
	}
	for _, columns := range []int{64, 128, 256} {
		rate := difference(t, "h100", 1, func(n int) *async { return group(1, 8*n, columns, true) }) / 8
		within(t, fmt.Sprintf("m64n%d of many", columns), rate, float64(columns)/2, 0.02)
	}
}

// Two warps that hand over to each other take as long for it as measured, with the other instructions of the measured loop: by
// their stall counts (ptxas 13.0) 55 and 15 cycles of each warp's round, and more for branches that are taken.
func TestMbarrierHandover(t *testing.T) {
	got := difference(t, "h100", 1, func(n int) *async {
		p := &async{}
		p.warp()
		p.init(0, 1)
		p.init(8, 1)
		p.barrier(0, 0)
		for i := range n {
			p.busy(60)
			p.arrive(0, 0)
			p.wait(8, uint8(i&1))
		}
		p.exit()
		p.warp()
		p.barrier(0, 0)
		for i := range n {
			p.wait(0, uint8(i&1))
			p.busy(20)
			p.arrive(8, 0)
		}
		p.exit()
		return p
	}) / 2
	within(t, "handover", got, measured.On(t, "h100-hopper", "mbarrier.handover")[0].Value, 0.1)
}

// One thread's copies from L2 take as long as measured, one after another, with the other instructions of the measured loop: 46
// cycles from the end of the wait to the copy by their stall counts (ptxas 13.0).
func TestBulkCopyLatency(t *testing.T) {
	for _, gpu := range []string{"h100", "h200"} {
		for _, r := range measured.On(t, gpu+"-hopper", "tma.bulk_latency") {
			if r.Text("from") != "L2" || r.Int("ctas") != 1 {
				continue
			}
			bytes := int32(r.Int("bytes"))
			got := difference(t, gpu, 1, func(n int) *async {
				p := &async{}
				p.warp()
				p.init(0, 1)
				for i := range n {
					p.busy(40)
					p.arrive(0, bytes)
					p.load(0, 0, bytes)
					p.wait(0, uint8(i&1))
				}
				p.exit()
				return p
			})
			share := 0.1
			if bytes > 4096 {
				share = 0.2
			}
			within(t, fmt.Sprintf("%s: %d bytes", gpu, bytes), got, r.Value, share)
		}
	}
}

// Copies that are under way together take the time of their bytes, not of their latencies.
func TestBulkCopiesOverlap(t *testing.T) {
	const bytes = 16 << 10
	took := func(stages int) float64 {
		return difference(t, "h100", 1, func(n int) *async {
			p := &async{}
			p.warp()
			for s := range stages {
				p.init(uint32(8*s), 1)
			}
			for i := range 4*n + stages {
				if i >= stages {
					p.wait(uint32(8*(i%stages)), uint8((i/stages-1)&1))
				}
				if i < 4*n {
					p.arrive(uint32(8*(i%stages)), bytes)
					p.load(uint32(8*(i%stages)), 0, bytes)
				}
			}
			p.exit()
			return p
		}) / 4
	}
	one, two, four := took(1), took(2), took(4)
	if two > 0.7*one || four > 0.85*two {
		t.Errorf("a copy takes %.0f cycles, %.0f with two under way and %.0f with four", one, two, four)
	}
	if four < bytes/110 {
		t.Errorf("%d bytes in %.0f cycles", bytes, four)
	}
}

// A wait that nothing in the replay ends does not stop it, nor does a barrier that others have left.
func TestWaitsThatNothingEnds(t *testing.T) {
	p := &async{}
	p.warp()
	p.init(0, 3)
	p.wait(0, 0)
	p.wait(0, 1)
	p.barrier(1, 2)
	p.exit()
	p.warp()
	p.wait(64, 0) // never initialised
	p.exit()
	if c := p.cycles(t, "h100", 1); c <= 0 || c > 1e5 {
		t.Errorf("%.0f cycles", c)
	}
}

// A warp that ends wakes those that wait at a barrier for it, also where it was the last to issue in their sub-partition.
func TestEndOfAWarpEndsBarriers(t *testing.T) {
	for others := 1; others <= 4; others++ { // the fourth shares a sub-partition with the first
		p := &async{}
		p.warp()
		p.init(0, 1)
		p.barrier(0, 0)
		p.exit()
		for k := range others {
			p.warp()
			if k == others-1 {
				p.busy(2000)
			}
			p.exit()
		}
		if c := p.cycles(t, "h100", 1); c < 2000 || c > 4000 {
			t.Errorf("%d other warps: %.0f cycles", others, c)
		}
	}
}

// A barrier of two of four warps waits for none of the others.
func TestBarriersOfParts(t *testing.T) {
	took := func(parts bool) float64 {
		p := &async{}
		for k := range 4 {
			p.warp()
			p.init(0, 1)
			if k >= 2 {
				p.busy(4000)
			}
			number, warps := 0, 0
			if parts {
				number, warps = 1+k/2, 2
			}
			p.barrier(number, warps)
			if k < 2 {
				p.busy(4000)
			}
			p.exit()
		}
		return p.cycles(t, "h100", 1)
	}
	if all, parts := took(false), took(true); parts > all-3500 {
		t.Errorf("%.0f cycles with barriers of halves, %.0f with one of all", parts, all)
	}
}

// Barriers of a cluster take as long as measured, with and without a release.
func TestClusterBarriers(t *testing.T) {
	for name, mod := range map[string]ir.Mod{"cluster.barrier": 0, "cluster.barrier_relaxed": ir.ModRelaxed} {
		for _, r := range measured.On(t, "h100-hopper", name) {
			if size := r.Int("cluster"); size == 2 || size == 4 {
				got := difference(t, "h100", size, func(n int) *async {
					p := &async{}
					for range 4 {
						p.warp()
						for range n {
							p.cluster(mod)
						}
						p.exit()
					}
					return p
				})
				within(t, fmt.Sprintf("%s of %d", name, size), got, r.Value, 0.12)
			}
		}
	}
}

// releasedAt is the mbarrier that release arrives at.
const releasedAt = 1024

// release arrives at an mbarrier with release semantics at the scope of the cluster.
func (p *async) release() {
	in := ir.Instr{Op: ir.MbarArrive, Mod: ir.ModRelease, Scope: ir.ScopeCluster}
	p.do(assemble.Fence, in)
	p.at(assemble.Mbarrier, in, trace.Async{Barrier: releasedAt, Count: 1})
}

// behindCopies is how long a release takes a copy's latency after a thread of its CTA has asked for so many copies of
// 16 KiB, on every SM. L2 is then as far behind as where as many are always in flight.
func behindCopies(t *testing.T, copies int) float64 {
	const latency = 700
	took := func(releases int) float64 {
		p := &async{}
		p.warp()
		p.init(0, 1)
		p.init(releasedAt, 100)
		for i := range releases * copies {
			p.load(0, uint64(128*i), 16384)
		}
		p.exit()
		p.warp()
		p.busy(latency)
		for range releases {
			p.release()
		}
		p.exit()
		return p.cyclesOf(t, "h100", 1, 132)
	}
	return took(1) - took(0)
}

// An arrival that releases at the scope of the cluster fences the device, behind the bulk copies on their way.
func TestReleasesBesideCopies(t *testing.T) {
	for _, r := range measured.On(t, "h100-hopper", "release.beside") {
		switch depth := r.Int("depth"); {
		case r.Int("ctas") != 132 || r.Int("fence") != 0 || r.Int("warps") != 1 || r.Int("loaders") != 0:
		case depth == 0:
			alone := difference(t, "h100", 1, func(n int) *async {
				p := &async{}
				p.warp()
				p.init(releasedAt, 100)
				for range n {
					p.release()
				}
				p.exit()
				return p
			})
			within(t, "a release alone", alone, r.Value, 0.1)
		case r.Int("bytes") == 16384 && depth >= 4: // fewer are in shared memory by then
			within(t, fmt.Sprintf("a release behind %d copies", depth), behindCopies(t, depth), r.Value, 0.16)
		}
	}
}

// A multicast copy brings a CTA what it asks for and what the others of its cluster do at the same time.
func TestMulticastOfOthers(t *testing.T) {
	p := &async{}
	p.warp()
	p.init(0, 1)
	p.arrive(0, 4096)
	p.load(0, 0, 2048)
	p.warps[0].Asyncs[2].To = 3
	p.wait(0, 0)
	p.exit()
	with := p.cycles(t, "h100", 2)
	p.warps[0].Asyncs[2].To = 0 // half of what is expected never comes
	if without := p.cycles(t, "h100", 2); with <= 0 || without <= 0 {
		t.Errorf("%.0f and %.0f cycles", with, without)
	}
}

// Work of a consumer hides the copies of a producer the better the more stages there are.
func TestStagesHideCopies(t *testing.T) {
	const iterations, bytes = 48, 16 << 10
	took := func(stages int) float64 {
		p := &async{}
		full := func(i int) uint32 { return uint32(8 * (i % stages)) }
		empty := func(i int) uint32 { return 512 + full(i) }
		p.warp()
		for s := range stages {
			p.init(full(s), 1)
			p.init(empty(s), 4)
		}
		p.barrier(0, 0)
		for i := range iterations {
			p.wait(empty(i), uint8((i/stages+1)&1))
			p.arrive(full(i), bytes)
			p.load(full(i), 0, bytes)
		}
		p.exit()
		for range 4 {
			p.warp()
			p.barrier(0, 0)
			for i := range iterations {
				p.wait(full(i), uint8((i/stages)&1))
				p.products(4, 128, true)
				p.arrive(empty(i), 0)
			}
			p.exit()
		}
		return p.cycles(t, "h100", 1) / iterations
	}
	one, two, four := took(1), took(2), took(4)
	if two > 0.75*one || four > 1.01*two {
		t.Errorf("an iteration takes %.0f, %.0f and %.0f cycles with one, two and four stages", one, two, four)
	}
	if four < 4*64+60 || four > 450 { // its products, waited for
		t.Errorf("an iteration takes %.0f cycles with four stages", four)
	}
}

// So many threads that do the same are as many operations of one thread each, bytes expected and arrivals.
func TestAlikeThreads(t *testing.T) {
	const threads, bytes = 32, 6 << 10
	took := func(together bool) float64 {
		p := &async{}
		p.warp()
		p.init(0, threads)
		expect := ir.Instr{Op: ir.MbarArrive, Mod: ir.ModTx}
		if together {
			p.at(assemble.Mbarrier, expect, trace.Async{Barrier: 0, Count: 1, Bytes: bytes})
			w := &p.warps[len(p.warps)-1]
			w.Asyncs[len(w.Asyncs)-1].Lanes = threads
		} else {
			p.at(assemble.Mbarrier, expect, trace.Async{Barrier: 0, Count: 1, Bytes: bytes})
			w := &p.warps[len(p.warps)-1]
			for range threads - 1 {
				w.Asyncs = append(w.Asyncs, w.Asyncs[len(w.Asyncs)-1])
			}
		}
		for i := range threads {
			p.load(0, uint64(i*bytes/128), bytes)
		}
		p.wait(0, 0)
		p.exit()
		return p.cycles(t, "h100", 1)
	}
	if one, many := took(true), took(false); one != many {
		t.Errorf("%d threads together take %.0f cycles, one by one %.0f", threads, one, many)
	}
}
