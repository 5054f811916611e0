package exec

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/warptune/warptune/simengine/exec/fault"
	"github.com/warptune/warptune/simengine/exec/internal/code"
	"github.com/warptune/warptune/simengine/exec/mma"
	"github.com/warptune/warptune/simengine/ir"
)

// Warpgroup MMAs (PTX ISA, wgmma.mma_async). Each of the four warps multiplies its 16 rows of A
// with all of B, when it executes the instruction. As with mma, multiplications are exact, additions
// are in double precision, and the result is rounded once.

// multiplyGroup is wgmma.mma_async by one warp.
func (r *Runner) multiplyGroup(w *warp, in *code.Instr, mask uint32) signal {
	g, x := in.X.Group, in.X
	if mask != ^uint32(0) {
		return r.fail(w, in, fault.Fault{Kind: fault.BarrierDivergence, Thread: w.first, Detail: fmt.Sprintf("lanes %#08x of warp %d execute it without the others", mask, w.id)})
	}
	if r.groupTiles == nil {
		r.groupTiles = new(mma.WarpgroupTiles)
	}
	t := r.groupTiles
	reader := r.newReader(asyncRead{in.PC, int16(w.id), -1, w.wgmma.committed})
	if !g.FromShared {
		w.gather(g.FragmentA, x.Src[:g.RegistersOfA], t.A[:])
	} else if s := r.readMatrix(w, in, w.get(x.Src[0], 0), g.A, g.TransA, w.id%4*mma.GroupRows, mma.GroupRows, t.A[:], g.FragmentA.Decode, reader); s != next {
		return s
	}
	if s := r.readMatrix(w, in, w.get(x.Src[g.RegistersOfA], 0), g.B, g.TransB, 0, g.N, t.B[:], g.DecodeB, reader); s != next {
		return s
	}
	d := t.D[:mma.GroupRows*g.N]
	accumulators := x.Src[g.RegistersOfA+1 : len(x.Src)-1]
	if w.predicateValue(x, len(x.Src)-1)&1 == 0 {
		clear(d)
	} else {
		w.gather(g.FragmentD, accumulators, d)
	}
	g.Multiply(t)
	r.work += mma.GroupWork(g.Matrix)
	w.scatter(g.FragmentD, x.Dst, d, mask)
	r.begin(w, in)
	return next
}

// readMatrix reads lines of a matrix in shared memory, from one on: rows of A, or columns of B, of K
// elements each.
func (r *Runner) readMatrix(w *warp, in *code.Instr, desc uint64, t ir.Type, transposed bool, from, lines int, to []float64, decode func(uint64) float64, reader uint32) signal {
	k := in.X.Group.K
	d, err := decodeDescriptor(desc, t, transposed)
	if err != nil {
		return r.fail(w, in, fault.Fault{Kind: fault.Unsupported, Thread: w.first, Detail: err.Error()})
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
				return r.fail(w, in, fault.Fault{Kind: fault.OutOfBounds, Space: ir.Shared, Address: uint64(addr), Thread: w.first, Width: 16, Detail: sizeText(ir.Shared, uint64(len(r.shared)))})
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
				v := decode(elementBits(r.shared[addr:], e, d.size))
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
func elementBits(b []byte, i, size int) uint64 {
	switch size {
	case 1:
		return uint64(b[i])
	case 2:
		return uint64(binary.LittleEndian.Uint16(b[2*i:]))
	}
	return uint64(binary.LittleEndian.Uint32(b[4*i:]))
}

// wgmmaUse is the warpgroup MMA in flight that a register is an accumulator of.
type wgmmaUse struct {
	group int32 // plus one; 0: none
	pc    int32
}

// begin notes the accumulators of a warpgroup MMA. Its registers of A may be written again at once: ptxas copies
// what is written to others meanwhile, as Triton relies on (an LDSM beside the HGMMA of the iteration before, in
// sm_90a code of ptxas 13.0).
func (r *Runner) begin(w *warp, in *code.Instr) {
	k := &r.p.Executed.Instrs[in.PC]
	if len(w.inFlight) < len(r.p.Executed.Regs) {
		w.inFlight = make([]wgmmaUse, len(r.p.Executed.Regs))
	}
	w.unwaited = true
	use := wgmmaUse{group: w.wgmma.committed + 1, pc: in.PC}
	for _, reg := range k.Dst {
		w.inFlight[reg] = use
	}
}

// commitWgmma is wgmma.commit_group.
func (r *Runner) commitWgmma(w *warp, in *code.Instr, mask uint32) signal {
	w.wgmma.committed++
	return next
}

// waitWgmma is wgmma.wait_group.
func (r *Runner) waitWgmma(w *warp, in *code.Instr, mask uint32) signal {
	w.wgmma.wait(in.X.Imm)
	w.unwaited = slices.ContainsFunc(w.inFlight, func(u wgmmaUse) bool { return u.group > w.wgmma.waited })
	return next
}

// wgmmaInFlight reports whether registers of warpgroup MMAs are in flight.
func (w *warp) wgmmaInFlight() bool { return w.unwaited }

// runWatched is runBlock with registers of warpgroup MMAs watched.
func (r *Runner) runWatched(w *warp, b *code.Block, active uint32) signal {
	for ip := w.ip; ip < b.End; ip++ {
		if w.unwaited && !r.watch(w, &r.p.Code[ip], active) {
			return faulted
		}
		if s := r.runRange(w, ip, ip+1, active); s != next {
			return s
		}
	}
	return next
}

// watch reports whether an instruction may use the registers that it does while MMAs are in
// flight. The MMAs themselves may use each other's accumulators.
func (r *Runner) watch(w *warp, in *code.Instr, active uint32) bool {
	k := &r.p.Executed.Instrs[in.PC]
	if in.HasGuard && w.guarded(active, in.Guard, in.GuardNot) == 0 {
		return true
	}
	check := func(reg ir.Reg, writes bool) bool {
		u := &w.inFlight[reg]
		if u.group <= w.wgmma.waited {
			return true
		}
		return r.touchesWgmma(w, in, reg, u, writes) == next
	}
	if k.Op == ir.Wgmma {
		for i := range in.X.Group.RegistersOfA {
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

// touchesWgmma is the fault of an instruction that uses a register of a warpgroup MMA in flight.
func (r *Runner) touchesWgmma(w *warp, in *code.Instr, reg ir.Reg, u *wgmmaUse, writes bool) signal {
	if r.passes(fault.Race) && r.warned(fault.Race, in.PC) {
		return next
	}
	other := r.other(u.pc, r.cta, w.first)
	other.Write = true
	f := fault.Fault{Kind: fault.Race, Space: ir.RegSpace, Thread: w.first, Write: writes, Other: other,
		Detail: "register " + r.p.Executed.Regs[reg].Name + ", no wgmma.wait_group between"}
	return r.fail(w, in, f)
}
