package exec

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/warptune/warptune/simengine/ir"
)

// Warpgroup MMAs (PTX ISA, wgmma.mma_async). Each of the four warps multiplies its 16 rows of A
// with all of B, when it executes the instruction. As with mma, multiplications are exact, additions
// are in double precision, and the result is rounded once.

// groupRows is the rows of a warp; groupCols is the most columns of B, groupDepth of A.
const (
	groupRows  = 16
	groupCols  = 256
	groupDepth = 32
)

// groupProduct is a compiled product.
type groupProduct struct {
	*ir.Matrix
	a, d       fragment
	b          func(uint64) float64
	na         int // registers of A; 1: a descriptor
	saturating bool
}

// groupTiles are the matrices of one product: A and D row by row, B by columns.
type groupTiles struct {
	a [groupRows * groupDepth]float64
	b [groupCols * groupDepth]float64
	d [groupRows * groupCols]float64
}

// emitWgmma compiles a product.
func (c *compiler) emitWgmma(pc int, in *ir.Instr, i *instr) error {
	m := in.Matrix
	g := &groupProduct{Matrix: m, na: 1, saturating: in.Mod&ir.ModSat != 0}
	g.a, g.d = fragmentOf(m.A, groupRows, m.K), fragmentOf(m.D, groupRows, m.N)
	g.b = fragmentOf(m.B, 8, 8).decode
	if !m.FromShared {
		g.na, _, _ = m.Registers()
	}
	i.x.run, i.x.group = (*Runner).multiplyGroup, g
	if len(in.Src) != g.na+1+len(in.Dst)+1 {
		return c.unsupported(pc, "operands")
	}
	return c.operands(pc, in, i.x, in.Type)
}

// GroupWork is what a warp's part in a warpgroup MMA takes in Full mode, in executed warp
// instructions: about 3 ns of 300 for each multiplication (BenchmarkWgmma).
func GroupWork(m *ir.Matrix) int64 { return int64(groupRows*m.N*m.K) / 100 }

// multiplyGroup is wgmma.mma_async by one warp.
func (r *Runner) multiplyGroup(w *warp, in *instr, mask uint32) signal {
	g, x := in.x.group, in.x
	if mask != ^uint32(0) {
		return r.fail(w, in, Fault{Kind: BarrierDivergence, Thread: w.first, Detail: fmt.Sprintf("lanes %#08x of warp %d execute it without the others", mask, w.id)})
	}
	if r.groupTiles == nil {
		r.groupTiles = new(groupTiles)
	}
	t := r.groupTiles
	reader := r.newReader(asyncRead{in.pc, int16(w.id), -1, w.products.committed})
	if !g.FromShared {
		g.a.gather(w, x.src[:g.na], t.a[:])
	} else if s := r.readMatrix(w, in, w.get(x.src[0], 0), g.A, g.TransA, w.id%4*groupRows, groupRows, t.a[:], g.a.decode, reader); s != next {
		return s
	}
	if s := r.readMatrix(w, in, w.get(x.src[g.na], 0), g.B, g.TransB, 0, g.N, t.b[:], g.b, reader); s != next {
		return s
	}
	d := t.d[:groupRows*g.N]
	accumulators := x.src[g.na+1 : len(x.src)-1]
	if w.predicateValue(x, len(x.src)-1)&1 == 0 {
		clear(d)
	} else {
		g.d.gather(w, accumulators, d)
	}
	g.multiply(t)
	r.work += GroupWork(g.Matrix)
	g.d.scatter(w, x.dst, d, mask)
	r.begin(w, in)
	return next
}

// multiply adds the product of A and B to D.
func (g *groupProduct) multiply(t *groupTiles) {
	sign := 1.0
	if g.NegA != g.NegB {
		sign = -1
	}
	for i := range groupRows {
		row := t.a[i*g.K : (i+1)*g.K]
		for k := range row {
			row[k] *= sign
		}
		for j := range g.N {
			sum := t.d[i*g.N+j]
			for k, b := range t.b[j*g.K : (j+1)*g.K] {
				sum += row[k] * b
			}
			t.d[i*g.N+j] = g.bounded(sum)
		}
	}
}

// bounded is a sum as an integer that saturates or wraps; of other types itself.
func (g *groupProduct) bounded(v float64) float64 {
	m := matrix{Matrix: g.Matrix, saturating: g.saturating}
	return m.bounded(v)
}

// readMatrix reads lines of a matrix in shared memory, from one on: rows of A, or columns of B, of K
// elements each.
func (r *Runner) readMatrix(w *warp, in *instr, desc uint64, t ir.Type, transposed bool, from, lines int, to []float64, decode func(uint64) float64, reader uint32) signal {
	k := in.x.group.K
	d, err := decodeDescriptor(desc, t, transposed)
	if err != nil {
		return r.fail(w, in, Fault{Kind: Unsupported, Thread: w.first, Detail: err.Error()})
	}
	per := 16 / d.size
	outer, inner := lines, k
	if transposed {
		outer, inner = k, lines
	}
	for i := range outer {
		for at := range inner / per {
			line, place := i, at
			if transposed {
				place += from / per
			} else {
				line += from
			}
			addr := d.chunk(line, place)
			if int(addr)+16 > len(r.shared) {
				return r.fail(w, in, Fault{Kind: OutOfBounds, Space: ir.Shared, Address: uint64(addr), Thread: w.first, Width: 16, Detail: sizeText(ir.Shared, uint64(len(r.shared)))})
			}
			if s := r.readTiles(w, in, 0, uint64(addr), 16, reader); s != next {
				return s
			}
			if r.races != nil {
				if s := r.raceTile(w, in, 0, uint64(addr), 16, false); s != next {
					return s
				}
			}
			for e := range per {
				v := decode(element(r.shared[addr:], e, d.size))
				if transposed {
					to[(at*per+e)*k+i] = v
				} else {
					to[i*k+at*per+e] = v
				}
			}
		}
	}
	return next
}

// element is the bits of an element of so many bytes.
func element(b []byte, i, size int) uint64 {
	switch size {
	case 1:
		return uint64(b[i])
	case 2:
		return uint64(binary.LittleEndian.Uint16(b[2*i:]))
	}
	return uint64(binary.LittleEndian.Uint32(b[4*i:]))
}

// productUse is a register that a product in flight uses.
type productUse struct {
	group   int32 // plus one; 0: none
	pc      int32
	written bool
}

// begin notes the registers that a product uses.
func (r *Runner) begin(w *warp, in *instr) {
	k := &r.p.executed.Instrs[in.pc]
	if len(w.inFlight) < len(r.p.executed.Regs) {
		w.inFlight = make([]productUse, len(r.p.executed.Regs))
	}
	w.unwaited = true
	use := productUse{group: w.products.committed + 1, pc: in.pc}
	for i := range in.x.group.na {
		if o := &k.Src[i]; o.Kind == ir.OperandReg && !in.x.group.FromShared {
			w.inFlight[o.Reg] = use
		}
	}
	use.written = true
	for _, reg := range k.Dst {
		w.inFlight[reg] = use
	}
}

// commitProducts is wgmma.commit_group.
func (r *Runner) commitProducts(w *warp, in *instr, mask uint32) signal {
	w.products.committed++
	return next
}

// waitProducts is wgmma.wait_group.
func (r *Runner) waitProducts(w *warp, in *instr, mask uint32) signal {
	w.products.wait(in.x.imm)
	w.unwaited = slices.ContainsFunc(w.inFlight, func(u productUse) bool { return u.group > w.products.waited })
	return next
}

// inProducts reports whether registers of products are in flight.
func (w *warp) inProducts() bool { return w.unwaited }

// runWatched is runBlock with registers of products watched.
func (r *Runner) runWatched(w *warp, b *block, active uint32) signal {
	for ip := w.ip; ip < b.end; ip++ {
		if w.unwaited && !r.watch(w, &r.p.code[ip], active) {
			return faulted
		}
		if s := r.runRange(w, ip, ip+1, active); s != next {
			return s
		}
	}
	return next
}

// watch reports whether an instruction may use the registers that it does while products are in
// flight. The products themselves may use each other's accumulators.
func (r *Runner) watch(w *warp, in *instr, active uint32) bool {
	k := &r.p.executed.Instrs[in.pc]
	if in.hasGuard && w.guarded(active, in.guard, in.guardNot) == 0 {
		return true
	}
	check := func(reg ir.Reg, writes bool) bool {
		u := &w.inFlight[reg]
		if u.group <= w.products.waited || !u.written && !writes {
			return true
		}
		return r.touchesProduct(w, in, reg, u, writes) == next
	}
	if k.Op == ir.Wgmma {
		for i := range in.x.group.na {
			if o := &k.Src[i]; o.Kind == ir.OperandReg && !check(o.Reg, false) {
				return false
			}
		}
		return true
	}
	for i := range k.Src {
		if o := &k.Src[i]; (o.Kind == ir.OperandReg || o.Kind == ir.OperandAddr) && o.Reg != ir.NoReg && !check(o.Reg, false) {
			return false
		}
	}
	for _, reg := range k.Dst {
		if reg != ir.NoReg && !check(reg, true) {
			return false
		}
	}
	return true
}

// touchesProduct is the fault of an instruction that uses a register of a product in flight.
func (r *Runner) touchesProduct(w *warp, in *instr, reg ir.Reg, u *productUse, writes bool) signal {
	if r.passes(Race) && r.warned(Race, in.pc) {
		return next
	}
	other := r.other(u.pc, r.cta, w.first)
	other.Write = u.written
	f := Fault{Kind: Race, Space: ir.RegSpace, Thread: w.first, Write: writes, Other: other,
		Detail: "register " + r.p.executed.Regs[reg].Name + ", no wgmma.wait_group between"}
	return r.fail(w, in, f)
}
