package clock

import (
	"testing"

	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/timing"
	"github.com/warptune/warptune/simengine/trace"
)

// program is a hand-made kernel of one machine instruction per PTX instruction
// and how its warps run it.
type program struct {
	kernel ir.Kernel
	code   assemble.Program
}

func (p *program) block() int {
	p.kernel.Blocks = append(p.kernel.Blocks, ir.Block{LoopHead: -1, IPDom: -1})
	p.code.Blocks = append(p.code.Blocks, assemble.Block{Merged: -1})
	p.code.Kernel = &p.kernel
	return len(p.code.Blocks) - 1
}

// loop makes a block that heads a loop of itself.
func (p *program) loop() int {
	b := p.block()
	p.kernel.Blocks[b].LoopHead, p.kernel.Blocks[b].LoopDepth = b, 1
	return b
}

func reg(r int) assemble.RegSpan { return assemble.RegSpan{First: assemble.Reg(r), Count: 1} }

// emit adds an instruction to the last block; dst and src are registers, -1 none.
func (p *program) emit(c assemble.Class, op ir.Op, space ir.Space, dst int, src ...int) int32 {
	pc := int32(len(p.kernel.Instrs))
	p.kernel.Instrs = append(p.kernel.Instrs, ir.Instr{Op: op, Space: space, Target: -1})
	in := assemble.Instr{Class: c, Source: pc, Space: space, Width: 4, Spill: -1, Carried: -1}
	if dst >= 0 {
		in.Dst[0] = reg(dst)
	}
	for i, r := range src {
		in.Src[i] = reg(r)
	}
	b := &p.code.Blocks[len(p.code.Blocks)-1]
	b.Instrs = append(b.Instrs, in)
	return pc
}

// row is a fully coalesced access of a warp to 128 bytes.
func row(pc int32, line uint64, w *trace.Warp, full bool) {
	l := trace.Line{Addr: line, Sectors: 0xf}
	if full {
		l.Full = 0xf
	}
	w.Accesses = append(w.Accesses, trace.Access{
		PC: pc, Space: ir.Global, Width: 4, Mask: ^uint32(0), Passes: 1, Ideal: 1,
		First: int32(len(w.Lines)), NLines: 1, Sectors: 4, MaxSame: 1,
	})
	w.Lines = append(w.Lines, l)
}

// eachWarp makes traces of what one does for warp k.
func eachWarp(one func(cta int64, warps, k int, w *trace.Warp)) func(cta int64, warps int) *trace.CTA {
	return func(cta int64, warps int) *trace.CTA {
		t := &trace.CTA{ID: cta, Warps: make([]trace.Warp, warps)}
		for k := range t.Warps {
			one(cta, warps, k, &t.Warps[k])
		}
		return t
	}
}

// copyKernel reads and writes items rows a warp.
func copyKernel(items int) (*program, func(cta int64, warps int) *trace.CTA) {
	p := &program{}
	p.block()
	p.emit(assemble.S2R, ir.Mov, 0, 0)
	p.emit(assemble.FMAHeavy, ir.Mad, 0, 1, 0)
	p.emit(assemble.IMADWide, ir.Mad, 0, 2, 1)
	var lds, sts []int32
	for i := range items {
		lds = append(lds, p.emit(assemble.Load, ir.Ld, ir.Global, 10+i, 2))
	}
	for i := range items {
		sts = append(sts, p.emit(assemble.Store, ir.St, ir.Global, -1, 2, 10+i))
	}
	p.emit(assemble.Exit, ir.Exit, 0, -1)
	return p, eachWarp(func(cta int64, warps, k int, w *trace.Warp) {
		w.Steps = []trace.Step{{Block: 0, Mask: ^uint32(0)}}
		for i := range items {
			row(lds[i], uint64(cta)*uint64(warps*items)+uint64(i*warps+k), w, false)
		}
		for i := range items {
			row(sts[i], 1<<30+uint64(cta)*uint64(warps*items)+uint64(i*warps+k), w, true)
		}
	})
}

// loopKernel runs a block of instructions n times; recorded of them are in the trace.
func loopKernel(class assemble.Class, op ir.Op, body, n, recorded int, chain bool) (*program, func(cta int64, warps int) *trace.CTA) {
	p := &program{}
	p.block()
	p.emit(assemble.S2R, ir.Mov, 0, 0)
	p.loop()
	for i := range body {
		if chain {
			p.emit(class, op, 0, 1, 1)
		} else {
			p.emit(class, op, 0, 1+i%32, 40)
		}
	}
	p.emit(assemble.Branch, ir.Bra, 0, -1)
	p.block()
	p.emit(assemble.Exit, ir.Exit, 0, -1)
	return p, eachWarp(func(_ int64, _, _ int, w *trace.Warp) {
		w.Steps = append(w.Steps, trace.Step{Block: 0, Mask: ^uint32(0)})
		for range recorded {
			w.Steps = append(w.Steps, trace.Step{Block: 1, Mask: ^uint32(0)})
		}
		if n > recorded {
			w.Steps = append(w.Steps, trace.Step{Block: 1, Mask: ^uint32(0), Repeat: int64(n - recorded)})
		}
		w.Steps = append(w.Steps, trace.Step{Block: 2, Mask: ^uint32(0)})
	})
}

// input launches a hand-made kernel.
func input(d *arch.Descriptor, p *program, tr func(int64, int) *trace.CTA, grid, resident, warps int) timing.Input {
	return timing.Input{
		Arch: d, Program: &p.code, CTAsPerSM: resident, WarpsPerCTA: warps, L1Bytes: 128 << 10,
		Grid:   [3]int{grid, 1, 1},
		Source: func(cta int64) (*trace.CTA, error) { return tr(cta, warps), nil },
	}
}

func run(tb testing.TB, in timing.Input) *timing.Result {
	tb.Helper()
	r, err := Run(in)
	if err != nil {
		tb.Fatal(err)
	}
	var slots int64
	for _, v := range r.Slots {
		slots += v
	}
	if r.Issued+slots != r.SchedulerCycles {
		tb.Fatalf("issued %d + unused %d is not the %d slots there are", r.Issued, slots, r.SchedulerCycles)
	}
	return r
}
