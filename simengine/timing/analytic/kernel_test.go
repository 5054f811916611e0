package analytic

import (
	"maps"
	"testing"

	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/timing"
	"github.com/warptune/warptune/simengine/trace"
)

// kernel is a hand-made kernel of one machine instruction per PTX instruction.
type kernel struct {
	ir   ir.Kernel
	code assemble.Program
}

// block adds a block; a loop heads itself.
func (k *kernel) block(loop bool) {
	b := ir.Block{LoopHead: -1, IPDom: -1}
	if loop {
		b.LoopHead, b.LoopDepth = len(k.ir.Blocks), 1
	}
	k.ir.Blocks = append(k.ir.Blocks, b)
	k.code.Blocks = append(k.code.Blocks, assemble.Block{Merged: -1})
	k.code.Kernel = &k.ir
}

// emit adds an instruction to the last block; dst and src are registers, -1 none.
func (k *kernel) emit(c assemble.Class, op ir.Op, dst int, src ...int) int32 {
	span := func(r int) assemble.RegSpan { return assemble.RegSpan{First: assemble.Reg(r), Count: 1} }
	pc := int32(len(k.ir.Instrs))
	k.ir.Instrs = append(k.ir.Instrs, ir.Instr{Op: op, Space: ir.Global, Target: -1})
	in := assemble.Instr{Class: c, Source: pc, Space: ir.Global, Width: 4, Spill: -1, Carried: -1}
	if dst >= 0 {
		in.Dst[0] = span(dst)
	}
	for i, r := range src {
		in.Src[i] = span(r)
	}
	b := &k.code.Blocks[len(k.code.Blocks)-1]
	b.Instrs = append(b.Instrs, in)
	return pc
}

// around makes a kernel of three blocks, of which body emits the middle one, a loop.
func around(body func(k *kernel)) *kernel {
	k := &kernel{}
	k.block(false)
	k.emit(assemble.S2R, ir.Mov, 0)
	k.block(true)
	body(k)
	k.emit(assemble.Branch, ir.Bra, -1)
	k.block(false)
	k.emit(assemble.Exit, ir.Exit, -1)
	return k
}

// tracer makes the trace of a CTA of some warps.
type tracer func(cta int64, warps int) *trace.CTA

// eachWarp makes traces of what one does for warp i.
func eachWarp(one func(cta int64, warps, i int, w *trace.Warp)) tracer {
	return func(cta int64, warps int) *trace.CTA {
		t := &trace.CTA{ID: cta, Warps: make([]trace.Warp, warps)}
		for i := range t.Warps {
			one(cta, warps, i, &t.Warps[i])
		}
		return t
	}
}

// access adds a fully coalesced access of a warp to a line.
func access(w *trace.Warp, pc int32, line uint64) {
	w.Accesses = append(w.Accesses, trace.Access{
		PC: pc, Space: ir.Global, Width: 4, Mask: ^uint32(0), Passes: 1, Ideal: 1,
		First: int32(len(w.Lines)), NLines: 1, Sectors: 4, MaxSame: 1,
	})
	w.Lines = append(w.Lines, trace.Line{Addr: line, Sectors: 0xf, Full: 0xf})
}

// copying reads and writes items lines a warp.
func copying(items int) (*kernel, tracer) {
	k := &kernel{}
	k.block(false)
	k.emit(assemble.S2R, ir.Mov, 0)
	k.emit(assemble.IMADWide, ir.Mad, 2, 0)
	var loads, stores []int32
	for i := range items {
		loads = append(loads, k.emit(assemble.Load, ir.Ld, 10+i, 2))
	}
	for i := range items {
		stores = append(stores, k.emit(assemble.Store, ir.St, -1, 2, 10+i))
	}
	k.emit(assemble.Exit, ir.Exit, -1)
	return k, eachWarp(func(cta int64, warps, n int, w *trace.Warp) {
		w.Steps = []trace.Step{{Mask: ^uint32(0)}}
		line := uint64(cta)*uint64(warps*items) + uint64(n)
		for i, pc := range loads {
			access(w, pc, line+uint64(i*warps))
		}
		for i, pc := range stores {
			access(w, pc, 1<<30+line+uint64(i*warps))
		}
	})
}

// looping runs body instructions of a class n times, recorded of them traced,
// each waiting for the one before in a chain or none for another, with a
// barrier at the end of each iteration or without.
func looping(c assemble.Class, body, n, recorded int, chain, barrier bool) (*kernel, tracer) {
	k := around(func(k *kernel) {
		for i := range body {
			if chain {
				k.emit(c, ir.Add, 1, 1)
			} else {
				k.emit(c, ir.Add, 1+i%32, 40)
			}
		}
		if barrier {
			k.emit(assemble.Barrier, ir.Bar, -1)
		}
	})
	return k, eachWarp(func(_ int64, _, _ int, w *trace.Warp) {
		iterate(w, n, recorded, func(int) {})
	})
}

// h200 is a copy of the descriptor that a test may change.
func h200(tb testing.TB) *arch.Descriptor {
	tb.Helper()
	d, err := arch.Load("h200")
	if err != nil {
		tb.Fatal(err)
	}
	c := *d
	c.Lanes, c.Latency = maps.Clone(d.Lanes), maps.Clone(d.Latency)
	return &c
}

// input launches a hand-made kernel.
func input(d *arch.Descriptor, k *kernel, t tracer, grid, resident, warps int) timing.Input {
	return timing.Input{
		Arch: d, Program: &k.code, CTAsPerSM: resident, WarpsPerCTA: warps, L1Bytes: 128 << 10,
		Grid:   [3]int{grid, 1, 1},
		Source: func(cta int64) (*trace.CTA, error) { return t(cta, warps), nil },
	}
}

// iterate steps a warp through a kernel of three blocks, the middle one n times, recorded of
// them traced and the last of those as itself; of each the accesses are what read adds.
func iterate(w *trace.Warp, n, recorded int, read func(at int)) {
	step := func(block int32, repeat int64) {
		w.Steps = append(w.Steps, trace.Step{Block: block, Mask: ^uint32(0), Repeat: repeat, Access: int32(len(w.Accesses))})
	}
	step(0, 0)
	for at := range recorded {
		if at == recorded-1 && n > recorded {
			step(1, int64(n-recorded))
			at = n - 1
		}
		step(1, 0)
		read(at)
	}
	step(2, 0)
}

// striding reads one new line a warp in each of n iterations, the grid's warps side
// by side, and waits for it; recorded of the iterations are traced.
func striding(grid, n, recorded int) (*kernel, tracer) {
	var load int32
	k := around(func(k *kernel) {
		load = k.emit(assemble.Load, ir.Ld, 1, 0)
		k.emit(assemble.FMA, ir.Fma, 2, 1, 2)
	})
	return k, eachWarp(func(cta int64, warps, i int, w *trace.Warp) {
		iterate(w, n, recorded, func(at int) {
			access(w, load, uint64((at*grid+int(cta))*warps+i))
		})
	})
}

// sharing reads four new lines in each of n iterations, the same ones in all warps of a
// CTA, and waits for them.
func sharing(n int) (*kernel, tracer) {
	var loads [4]int32
	k := around(func(k *kernel) {
		for i := range loads {
			loads[i] = k.emit(assemble.Load, ir.Ld, 1+i, 0)
		}
		k.emit(assemble.FMA, ir.Fma, 5, 1, 2, 3)
		k.emit(assemble.FMA, ir.Fma, 5, 4, 5)
	})
	return k, eachWarp(func(cta int64, _, _ int, w *trace.Warp) {
		iterate(w, n, n, func(at int) {
			for k, pc := range loads {
				access(w, pc, uint64((int(cta)*n+at)*len(loads)+k))
			}
		})
	})
}

// marching reads in each of n iterations a line of the next plane and the lines
// beside its own of the present one, which the neighbouring CTAs read an iteration
// earlier as theirs; recorded of the iterations are traced.
func marching(grid, n, recorded int) (*kernel, tracer) {
	var loads [3]int32
	k := around(func(k *kernel) {
		for i := range loads {
			loads[i] = k.emit(assemble.Load, ir.Ld, 1+i, 0)
		}
		k.emit(assemble.FMA, ir.Fma, 4, 1, 2, 3)
	})
	return k, eachWarp(func(cta int64, warps, i int, w *trace.Warp) {
		rows, row := uint64(grid*warps+2), uint64(cta)*uint64(warps)+uint64(i)+1
		iterate(w, n, recorded, func(at int) {
			plane := uint64(at)
			access(w, loads[0], (plane+1)*rows+row)
			access(w, loads[1], plane*rows+row-1)
			access(w, loads[2], plane*rows+row+1)
		})
	})
}

// walking reads one new line in each of n iterations, the next once it has come, one warp a
// CTA: all CTAs the same ones, or each its own.
func walking(n int, own bool) (*kernel, tracer) {
	var load int32
	k := around(func(k *kernel) {
		load = k.emit(assemble.Load, ir.Ld, 1, 1)
	})
	return k, eachWarp(func(cta int64, _, _ int, w *trace.Warp) {
		iterate(w, n, n, func(at int) {
			line := uint64(at)
			if own {
				line += uint64(cta) * uint64(n)
			}
			access(w, load, line*4)
		})
	})
}
