package analytic

import (
	"math"
	"testing"

	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/timing"
	"github.com/warptune/warptune/simengine/trace"
)

// handMade is a hand-made kernel of the asynchronous units, one block a warp.
type handMade struct {
	kernel
	warps []trace.Warp
}

func (p *handMade) warp() {
	p.block(false)
	p.warps = append(p.warps, trace.Warp{Steps: []trace.Step{{Block: int32(len(p.ir.Blocks) - 1), Mask: ^uint32(0)}}})
}

func (p *handMade) do(c assemble.Class, in ir.Instr, a *trace.Async) {
	pc := p.emit(c, in.Op, -1)
	in.Target = -1
	p.ir.Instrs[pc] = in
	if a != nil {
		a.PC, a.CTA, a.Lanes = pc, -1, 1
		w := &p.warps[len(p.warps)-1]
		w.Asyncs = append(w.Asyncs, *a)
	}
}

func (p *handMade) init(bar uint32, count int32) {
	p.do(assemble.Mbarrier, ir.Instr{Op: ir.MbarInit}, &trace.Async{Barrier: bar, Count: count})
}

func (p *handMade) arrive(bar uint32, bytes int32) {
	p.do(assemble.Mbarrier, ir.Instr{Op: ir.MbarArrive}, &trace.Async{Barrier: bar, Count: 1, Bytes: bytes})
}

func (p *handMade) wait(bar uint32, parity int) {
	p.do(assemble.MbarWait, ir.Instr{Op: ir.MbarWait, Mod: ir.ModParity}, &trace.Async{Barrier: bar, Parity: uint8(parity & 1)})
}

func (p *handMade) load(bar uint32, bytes int32) {
	p.do(assemble.Bulk, ir.Instr{Op: ir.BulkCopy, Space: ir.Shared, Bulk: &ir.Bulk{To: ir.Shared, From: ir.Global, Barrier: true}}, &trace.Async{Barrier: bar, Bytes: bytes})
	w := &p.warps[len(p.warps)-1]
	n := uint16(bytes / 128)
	w.Accesses = append(w.Accesses, trace.Access{PC: int32(len(p.ir.Instrs) - 1), Space: ir.Global, Width: 16, Mask: 1, Passes: 1, Ideal: 1, First: int32(len(w.Lines)), NLines: n, Sectors: 4 * n, MaxSame: 1})
	for i := range n {
		w.Lines = append(w.Lines, trace.Line{Addr: uint64(i), Sectors: 0xf})
	}
}

func (p *handMade) products(n, columns int) {
	for range n {
		p.do(assemble.Wgmma, ir.Instr{Op: ir.Wgmma, Matrix: &ir.Matrix{M: 64, N: columns, K: 16, Group: true, FromShared: true}}, nil)
	}
	p.do(assemble.Control, ir.Instr{Op: ir.WgmmaCommit}, nil)
	p.do(assemble.Control, ir.Instr{Op: ir.WgmmaWait, Src: []ir.Operand{{Kind: ir.OperandImm}}}, nil)
}

func (p *handMade) exit() { p.emit(assemble.Exit, ir.Exit, -1) }

func (p *handMade) cycles(t *testing.T) float64 {
	t.Helper()
	d, err := arch.Load("h100")
	if err != nil {
		t.Fatal(err)
	}
	p.ir.Module = &ir.Module{Target: "sm_90a"}
	r, err := Compose(timing.Input{
		Arch: d, Program: &p.code, CTAsPerSM: 1, WarpsPerCTA: len(p.warps), L1Bytes: 128 << 10, Grid: [3]int{1, 1, 1},
		Extents: []timing.Extent{{First: 0, Last: 1 << 12}},
		Source: func(cta int64) (*trace.CTA, error) {
			return &trace.CTA{ID: cta, Warps: append([]trace.Warp(nil), p.warps...)}, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return r.Cycles
}

// A consumer's work hides a producer's copies the better the more stages there are, up to the time of its products.
func TestStagesHideCopies(t *testing.T) {
	const iterations, bytes = 48, 16 << 10
	took := func(stages int) float64 {
		p := &handMade{}
		full := func(i int) uint32 { return uint32(8 * (i % stages)) }
		empty := func(i int) uint32 { return 512 + full(i) }
		p.warp()
		for s := range stages {
			p.init(full(s), 1)
			p.init(empty(s), 4)
		}
		for i := range iterations {
			p.wait(empty(i), i/stages+1)
			p.arrive(full(i), bytes)
			p.load(full(i), bytes)
		}
		p.exit()
		for range 4 {
			p.warp()
			for i := range iterations {
				p.wait(full(i), i/stages)
				p.products(4, 128)
				p.arrive(empty(i), 0)
			}
			p.exit()
		}
		return p.cycles(t) / iterations
	}
	one, two, four := took(1), took(2), took(4)
	if two > 0.75*one || four > 1.01*two {
		t.Errorf("an iteration takes %.0f, %.0f and %.0f cycles with one, two and four stages", one, two, four)
	}
	if four < 4*64+60 || four > 450 {
		t.Errorf("an iteration takes %.0f cycles with four stages", four)
	}
}

// Warps that copy for themselves share the engine of bulk copies in the order of time: eight of different length take three
// times as long as one, as in the clock, and not one after the other.
func TestCopiesOfSeveralWarps(t *testing.T) {
	took := func(warps int) float64 {
		p := &handMade{}
		for w := range warps {
			bar := uint32(8 * w)
			p.warp()
			p.init(bar, 1)
			for i := range 8 + w {
				p.arrive(bar, 16<<10)
				p.load(bar, 16<<10)
				p.wait(bar, i)
			}
			p.exit()
		}
		return p.cycles(t)
	}
	if one, eight := took(1), took(8); eight < 2*one || eight > 4*one {
		t.Errorf("one warp takes %.0f cycles, eight %.0f", one, eight)
	}
}

// A thread issues copies one right after the other, but for those at which lanes take turns.
func TestCopiesAtWhichLanesTakeTurns(t *testing.T) {
	const copies = 8
	took := func(turns bool) float64 {
		p := &handMade{}
		p.warp()
		p.init(0, 1)
		p.arrive(0, 128*copies)
		for range copies {
			p.load(0, 128)
			if turns {
				block := &p.code.Blocks[len(p.code.Blocks)-1]
				pc := block.Instrs[len(block.Instrs)-1].Source
				p.emit(assemble.Branch, ir.Bra, -1)
				block.Instrs[len(block.Instrs)-1].Source = pc
			}
		}
		p.wait(0, 0)
		p.exit()
		return p.cycles(t)
	}
	if at, apart := took(false), took(true); apart-at < 30*(copies-1) || apart-at > 50*copies {
		t.Errorf("%d copies take %.0f cycles, %.0f where lanes take turns at each", copies, at, apart)
	}
}

// Four warps that are alike and copy a quarter each are as one that copies all: stages hide their copies.
func TestAlikeProducers(t *testing.T) {
	const iterations, bytes, producers = 48, 16 << 10, 4
	took := func(stages int) float64 {
		p := &handMade{}
		full := func(i int) uint32 { return uint32(8 * (i % stages)) }
		empty := func(i int) uint32 { return 512 + full(i) }
		p.warp()
		for s := range stages {
			p.init(full(s), producers)
			p.init(empty(s), 4)
		}
		for i := range iterations {
			p.wait(empty(i), i/stages+1)
			p.arrive(full(i), bytes/producers)
			p.load(full(i), bytes/producers)
		}
		p.exit()
		for range producers - 1 { // the same code
			p.warps = append(p.warps, p.warps[0])
		}
		for range 4 {
			p.warp()
			for i := range iterations {
				p.wait(full(i), i/stages)
				p.products(4, 128)
				p.arrive(empty(i), 0)
			}
			p.exit()
		}
		return p.cycles(t) / iterations
	}
	if one, two, four := took(1), took(2), took(4); two > 0.75*one || four > 1.01*two {
		t.Errorf("an iteration takes %.0f, %.0f and %.0f cycles with one, two and four stages", one, two, four)
	}
}

// Two warps that hand over to each other take as long for it as measured (deploy/calibrate mbarrier.handover): 88 cycles, of
// which 41 are other instructions of the loop.
func TestMbarrierHandover(t *testing.T) {
	took := func(n int) float64 {
		p := &handMade{}
		p.warp()
		p.init(0, 1)
		p.init(8, 1)
		for i := range n {
			p.arrive(0, 0)
			p.wait(8, i)
		}
		p.exit()
		p.warp()
		for i := range n {
			p.wait(0, i)
			p.arrive(8, 0)
		}
		p.exit()
		return p.cycles(t)
	}
	if got := (took(24) - took(8)) / 32; math.Abs(got-47) > 9 {
		t.Errorf("handover: %.1f cycles, measured 47", got)
	}
}

// Warpgroup MMAs take the tensor core for half a cycle a column.
func TestWarpgroupMMAs(t *testing.T) {
	took := func(n int) float64 {
		p := &handMade{}
		for range 4 {
			p.warp()
			p.products(n, 256)
			p.exit()
		}
		return p.cycles(t)
	}
	if got := (took(96) - took(32)) / 64; math.Abs(got-128) > 3 {
		t.Errorf("m64n256k16: %.1f cycles, measured 128", got)
	}
}

// Waits that nothing in the trace ends do not hold the replay up.
func TestWaitsThatNothingEnds(t *testing.T) {
	p := &handMade{}
	p.warp()
	p.init(0, 3)
	p.wait(0, 0)
	p.wait(0, 1)
	p.exit()
	p.warp()
	p.wait(64, 0)
	p.exit()
	if c := p.cycles(t); c <= 0 || c > 1e5 {
		t.Errorf("%.0f cycles", c)
	}
}
