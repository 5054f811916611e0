package clock

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/timing"
	"github.com/warptune/warptune/simengine/trace"
)

// repeated makes a kernel of n copies of one memory instruction a warp, each
// with the same access.
func repeated(class assemble.Class, op ir.Op, space ir.Space, n int, a trace.Access, lines []trace.Line) (*program, func(int64, int) *trace.CTA) {
	p := &program{}
	p.block()
	pcs := make([]int32, n)
	for i := range pcs {
		dst := 1 + i%16
		if class == assemble.Store {
			dst = -1
		}
		pcs[i] = p.emit(class, op, space, dst)
	}
	p.emit(assemble.Exit, ir.Exit, 0, -1)
	return p, func(cta int64, warps int) *trace.CTA {
		t := &trace.CTA{ID: cta, Warps: make([]trace.Warp, warps)}
		for k := range t.Warps {
			w := &t.Warps[k]
			w.Steps = []trace.Step{{Block: 0, Mask: ^uint32(0)}}
			w.Lines = lines
			for _, pc := range pcs {
				a.PC, a.Space, a.Mask, a.NLines = pc, space, ^uint32(0), uint16(len(lines))
				w.Accesses = append(w.Accesses, a)
			}
		}
		return t
	}
}

func TestBankConflictsMultiply(t *testing.T) {
	d := h200(t)
	var base float64
	for _, passes := range []uint16{1, 2, 8, 32} {
		p, tr := repeated(assemble.Load, ir.Ld, ir.Shared, 256, trace.Access{Width: 4, Passes: passes, Ideal: 1}, nil)
		r := run(t, input(d, p, tr, d.SMs, 1, 16))
		if passes == 1 {
			base = r.Cycles
		}
		if q := r.Cycles / base / float64(passes); q < 0.7 || q > 1.2 {
			t.Errorf("%d passes: %.0f cycles, %.0f without conflicts", passes, r.Cycles, base)
		}
		want := 256 * 16 * float64(d.SMs) * float64(passes-1)
		if got := r.Metrics["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"]; got != want {
			t.Errorf("%d passes: %v conflicts, want %v", passes, got, want)
		}
		if passes > 1 && r.Bound != timing.BoundLSU {
			t.Errorf("%d passes: bound %s", passes, r.Bound)
		}
	}
}

func TestConstantsSerialise(t *testing.T) {
	d := h200(t)
	time := func(words uint16) float64 {
		p, tr := repeated(assemble.LDC, ir.Ld, ir.Const, 64, trace.Access{Width: 4, Passes: words}, nil)
		return run(t, input(d, p, tr, d.SMs, 1, 16)).Cycles
	}
	if one, all := time(1), time(32); all < 20*one {
		t.Errorf("32 distinct words take %.0f cycles, one %.0f", all, one)
	}
}

func TestAtomicsOnOneAddressSerialise(t *testing.T) {
	d := h200(t)
	line := []trace.Line{{Addr: 7, Sectors: 0xf}}
	time := func(same uint8) float64 {
		p, tr := repeated(assemble.Atomic, ir.Atom, ir.Global, 16, trace.Access{Width: 4, Passes: 1, Ideal: 1, Sectors: 4, MaxSame: same}, line)
		return run(t, input(d, p, tr, d.SMs*4, 4, 8)).Cycles
	}
	if spread, same := time(1), time(32); same < 4*spread {
		t.Errorf("one address: %.0f cycles, spread: %.0f", same, spread)
	}
}

// A fence beyond the CTA goes to L2 and back, after the stores before it have;
// one within the CTA does neither (deploy/calibrate latency.fence).
func TestFenceWaitsForL2(t *testing.T) {
	d := h200(t)
	cycles := func(scope ir.Scope, store bool) float64 {
		p := &program{}
		p.block()
		var st int32 = -1
		if store {
			st = p.emit(assemble.Store, ir.St, ir.Global, -1, 2)
		}
		p.kernel.Instrs[p.emit(assemble.Fence, ir.Membar, 0, -1)].Scope = scope
		p.emit(assemble.Exit, ir.Exit, 0, -1)
		return run(t, input(d, p, func(cta int64, warps int) *trace.CTA {
			w := trace.Warp{Steps: []trace.Step{{Mask: ^uint32(0)}}}
			if store {
				row(st, uint64(cta), &w, true)
			}
			return &trace.CTA{ID: cta, Warps: []trace.Warp{w}}
		}, 1, 1, 1)).Cycles
	}
	none := cycles(ir.ScopeCTA, false)
	fence, l2 := d.Latency[arch.LatencyFenceGPU]-d.Latency[arch.LatencyFenceCTA], d.Latency[arch.LatencyL2]
	if got := cycles(ir.ScopeGPU, false) - none; math.Abs(got-fence) > 2 {
		t.Errorf("a fence of the device takes %.0f cycles more than one of the CTA, want %.0f", got, fence)
	}
	if got := cycles(ir.ScopeGPU, true) - cycles(ir.ScopeCTA, true); got < fence+0.8*l2 || got > fence+1.2*l2 {
		t.Errorf("behind a store it takes %.0f cycles more, want about %.0f", got, fence+l2)
	}
}

func TestRepeatedLoadsHitL1(t *testing.T) {
	d := h200(t)
	p, tr := repeated(assemble.Load, ir.Ld, ir.Global, 64, trace.Access{Width: 4, Passes: 1, Ideal: 1, Sectors: 4}, []trace.Line{{Addr: 99, Sectors: 0xf}})
	in := input(d, p, tr, d.SMs*8, 4, 4)
	hits := run(t, in)
	if rate := hits.Metrics["l1tex__t_sector_hit_rate.pct"]; rate < 98 {
		t.Errorf("hit rate %.1f %%", rate)
	}
	in.L1Bytes = 0
	misses := run(t, in)
	if misses.Cycles < 1.5*hits.Cycles {
		t.Errorf("no L1: %.0f cycles, with it %.0f", misses.Cycles, hits.Cycles)
	}
}

// barrierKernel has every warp but the first go straight to a barrier; the
// first runs a chain before it.
func barrierKernel(chain int) (*program, func(int64, int) *trace.CTA) {
	p := &program{}
	p.block()
	p.emit(assemble.S2R, ir.Mov, 0, 0)
	long := p.block()
	for range chain {
		p.emit(assemble.FMA, ir.Fma, 0, 1, 1)
	}
	last := p.block()
	p.emit(assemble.Barrier, ir.Bar, 0, -1)
	p.emit(assemble.ALU, ir.Add, 0, 2, 0)
	p.emit(assemble.Exit, ir.Exit, 0, -1)
	return p, func(cta int64, warps int) *trace.CTA {
		t := &trace.CTA{ID: cta, Warps: make([]trace.Warp, warps)}
		for k := range t.Warps {
			steps := []trace.Step{{Block: 0, Mask: 1}}
			if k == 0 {
				steps = append(steps, trace.Step{Block: int32(long), Mask: 1})
			}
			t.Warps[k].Steps = append(steps, trace.Step{Block: int32(last), Mask: 1})
		}
		return t
	}
}

func TestBarrierWaitsForTheLast(t *testing.T) {
	d := h200(t)
	p, tr := barrierKernel(500)
	r := run(t, input(d, p, tr, 1, 1, 8))
	if want := 500 * d.Latency["fma"]; r.Cycles < want {
		t.Errorf("%.0f cycles, the chain alone takes %.0f", r.Cycles, want)
	}
	if r.Bound != timing.BoundLatency || r.Stalled() != timing.Barrier || r.WarpStalls[timing.Barrier] <= r.WarpStalls[timing.Wait] {
		t.Errorf("bound %s, stalled by %s: %v", r.Bound, r.Stalled(), r.WarpStalls)
	}
}

// Blocks that were if-converted run with their carrier and find their accesses.
func TestMergedBlocksCostOnce(t *testing.T) {
	d := h200(t)
	build := func(merged bool) *timing.Result {
		p := &program{}
		p.block()
		p.emit(assemble.S2R, ir.Mov, 0, 0)
		second := p.block()
		ld := p.emit(assemble.Load, ir.Ld, ir.Global, 3, 0)
		p.block()
		p.emit(assemble.ALU, ir.Add, 0, 4, 3)
		p.emit(assemble.Exit, ir.Exit, 0, -1)
		if merged {
			b := p.code.Blocks
			b[0].Instrs = append(b[0].Instrs, b[second].Instrs...)
			b[0].Instrs[1].Carried = int32(second)
			b[second].Instrs, b[second].Merged = nil, 0
		}
		tr := func(cta int64, warps int) *trace.CTA {
			t := &trace.CTA{ID: cta, Warps: make([]trace.Warp, warps)}
			for k := range t.Warps {
				w := &t.Warps[k]
				w.Steps = []trace.Step{{Block: 0, Mask: 1}, {Block: 1, Mask: 1}, {Block: 2, Mask: 1, Access: 1}}
				row(ld, uint64(cta*8)+uint64(k), w, false)
			}
			return t
		}
		return run(t, input(d, p, tr, 500, 2, 4))
	}
	a, b := build(false), build(true)
	if a.Metrics["smsp__inst_executed.sum"] != b.Metrics["smsp__inst_executed.sum"] || a.Cycles != b.Cycles {
		t.Errorf("alone %.0f cycles, merged %.0f", a.Cycles, b.Cycles)
	}
}

// Renaming registers changes no time and no count.
func TestRenamingRegistersChangesNothing(t *testing.T) {
	d := h200(t)
	seed := uint64(7)
	r := rand.New(rand.NewPCG(seed, 1))
	names := r.Perm(250)
	p, tr := copyKernel(6)
	before := run(t, input(d, p, tr, 3000, 8, 8))
	for b := range p.code.Blocks {
		for i := range p.code.Blocks[b].Instrs {
			in := &p.code.Blocks[b].Instrs[i]
			for _, spans := range [][]assemble.RegSpan{in.Dst[:], in.Src[:]} {
				for k := range spans {
					if spans[k].Count > 0 {
						spans[k].First = assemble.Reg(names[spans[k].First])
					}
				}
			}
		}
	}
	after := run(t, input(d, p, tr, 3000, 8, 8))
	if !reflect.DeepEqual(before, after) {
		t.Errorf("seed %d: %.1f cycles before, %.1f after", seed, before.Cycles, after.Cycles)
	}
}

func TestSpillsCostMemoryTraffic(t *testing.T) {
	d := h200(t)
	p, tr := loopKernel(assemble.FMA, ir.Fma, 16, 32, 32, false)
	plain := run(t, input(d, p, tr, d.SMs*16, 8, 8))
	b := &p.code.Blocks[1]
	for slot := range int16(8) {
		b.Instrs = append(b.Instrs, assemble.Instr{Class: assemble.Store, Source: -1, Space: ir.Local, Width: 4, Spill: slot, Carried: -1, Src: [4]assemble.RegSpan{reg(1)}})
		b.Instrs = append(b.Instrs, assemble.Instr{Class: assemble.Load, Source: -1, Space: ir.Local, Width: 4, Spill: slot, Carried: -1, Dst: [2]assemble.RegSpan{reg(2)}})
	}
	p.code.SpillBytes, p.code.LocalBytes = 32, 32
	spilled := run(t, input(d, p, tr, d.SMs*16, 8, 8))
	want := float64(d.SMs*16*8) * 32 * 8 * 4 // CTAs x warps x iterations x slots x sectors
	if got := spilled.Metrics["l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum"]; got < 0.99*want || got > 1.01*want {
		t.Errorf("%.0f sectors stored, want %.0f", got, want)
	}
	if spilled.Cycles < 2*plain.Cycles {
		t.Errorf("%.0f cycles with spills, %.0f without", spilled.Cycles, plain.Cycles)
	}
}

// A reload right before its use costs what one costs that stands where ptxas has it (cost.Leads): nothing where the
// block has that many instructions before it, its latency where the block begins with it.
func TestReloadsAreAskedForAhead(t *testing.T) {
	const body, iterations = 60, 32
	d := h200(t)
	reloadAt := func(at, use int) float64 {
		p, tr := loopKernel(assemble.FMA, ir.Fma, body, iterations, iterations, true)
		b := &p.code.Blocks[1]
		b.Instrs[use].Src[1] = reg(2)
		b.Instrs = slices.Insert(b.Instrs, at, assemble.Instr{Class: assemble.Load, Source: -1, Space: ir.Local, Width: 4, Spill: 0, Carried: -1, Dst: [2]assemble.RegSpan{reg(2)}})
		p.code.SpillBytes, p.code.LocalBytes = 4, 4
		return run(t, input(d, p, tr, 1, 1, 1)).Cycles
	}
	late, early, first := reloadAt(body-1, body-1), reloadAt(body-43, body-1), reloadAt(0, 0)
	if math.Abs(late-early) > iterations {
		t.Errorf("%.0f cycles with a reload right before its use, %.0f with one 42 instructions before", late, early)
	}
	if first < late+iterations*20 {
		t.Errorf("%.0f cycles with a reload and its use at the start of the block, %.0f at its end", first, late)
	}
}

// A malformed trace is an error, never a panic.
func TestMalformedTraces(t *testing.T) {
	d := h200(t)
	for name, spoil := range map[string]func(*trace.CTA){
		"block":        func(c *trace.CTA) { c.Warps[0].Steps[0].Block = 9 },
		"negative":     func(c *trace.CTA) { c.Warps[0].Steps[0].Block = -1 },
		"access":       func(c *trace.CTA) { c.Warps[0].Steps[0].Access = 99 },
		"pc":           func(c *trace.CTA) { c.Warps[0].Accesses[0].PC = 1000 },
		"lines":        func(c *trace.CTA) { c.Warps[0].Accesses[0].First = 1000 },
		"repeat":       func(c *trace.CTA) { c.Warps[0].Steps[0].Repeat = -3 },
		"no warps":     func(c *trace.CTA) { c.Warps = nil },
		"too few":      func(c *trace.CTA) { c.Warps = c.Warps[:1] },
		"repeat alone": func(c *trace.CTA) { c.Warps[0].Steps[0].Repeat = 5 },
	} {
		p, tr := copyKernel(1)
		in := input(d, p, tr, 10, 2, 2)
		source := in.Source
		in.Source = func(id int64) (*trace.CTA, error) {
			c, err := source(id)
			spoil(c)
			return c, err
		}
		if _, err := Run(in); err == nil && name != "repeat alone" {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestBarriersInARow(t *testing.T) {
	d := h200(t)
	p := &program{}
	p.block()
	p.emit(assemble.Barrier, ir.Bar, 0, -1)
	p.emit(assemble.ALU, ir.Add, 0, 1)
	p.emit(assemble.Barrier, ir.Bar, 0, -1)
	p.emit(assemble.Exit, ir.Exit, 0, -1)
	tr := func(cta int64, warps int) *trace.CTA {
		t := &trace.CTA{Warps: make([]trace.Warp, warps)}
		for k := range t.Warps {
			t.Warps[k].Steps = []trace.Step{{Block: 0, Mask: 1}}
		}
		return t
	}
	if _, err := Run(input(d, p, tr, 4, 2, 4)); err != nil {
		t.Errorf("two barriers in a row: %v", err)
	}
}

// Of lines a share is taken in the end, whole or not at all.
func TestTakeLine(t *testing.T) {
	const seed = 5
	rng := rand.New(rand.NewPCG(seed, 0))
	for range 100 {
		due := int32(rng.IntN(unit + 1))
		acc, asked, taken := int32(0), int64(0), int64(0)
		for range 1000 {
			n := int64(rng.IntN(3))
			got := (*sm)(nil).takeLine(&acc, due, n)
			if got != 0 && got != n {
				t.Fatalf("seed %d: %d of the %d granules of a line", seed, got, n)
			}
			asked, taken = asked+n, taken+got
			if want := float64(asked) * float64(due) / unit; float64(taken) > want+1e-9 || float64(taken) < want-2 {
				t.Fatalf("seed %d: %d of %d granules taken, want %.2f", seed, taken, asked, want)
			}
		}
	}
}

// Copies past L1 of the same line by one CTA, one after the other, all come to the SM, and L2 looks up one. Through L1
// there is nothing more to ask for.
func TestCopiesJoinThoseOnTheirWay(t *testing.T) {
	d := h200(t)
	reads := func(copies int, mod ir.Mod) float64 {
		p, tr := repeated(assemble.AsyncCopy, ir.CpAsync, ir.Global, copies, trace.Access{Width: 16, Passes: 1, Ideal: 1, Sectors: 4}, []trace.Line{{Addr: 99, Sectors: 0xf}})
		for pc := range p.kernel.Instrs {
			p.kernel.Instrs[pc].Mod |= mod
		}
		return run(t, input(d, p, tr, d.SMs, 1, 1)).Metrics["lts__t_sectors_op_read.sum"]
	}
	one, eight, through := reads(1, ir.ModBypassL1), reads(8, ir.ModBypassL1), reads(8, 0)
	if eight > 1.1*one || through > 1.1*one {
		t.Errorf("%.0f sectors looked up for one copy, %.0f for eight, %.0f for eight through L1", one, eight, through)
	}
}
