package exec

import (
	"bytes"
	"math/bits"

	"github.com/warptune/warptune/simengine/exec/element"
	"github.com/warptune/warptune/simengine/exec/fault"
	"github.com/warptune/warptune/simengine/exec/internal/code"
	"github.com/warptune/warptune/simengine/exec/memory"
	"github.com/warptune/warptune/simengine/ir"
)

// A pointer belongs to the argument or variable that it was computed from (ir.Pointers), wherever it
// strays: a read past the end of one buffer is out of bounds though another buffer lies there. An
// address that may come from several buffers may lie in each of them. One of unknown origin, such as
// a pointer loaded from memory or passed in a structure, may lie in any buffer.
//
// Shared memory is checked against the CTA's allocation only. A GPU does not notice an overrun from
// one shared array into the next, and some kernels address several arrays as one.

// bind finds the buffers that parameters point into and that variables are, once for all CTAs of a
// launch.
func (r *Runner) bind() {
	k := r.p.Kernel
	if r.boundTo == r.mem && bytes.Equal(r.bound, r.launch.Params) {
		return
	}
	r.boundTo, r.bound = r.mem, append(r.bound[:0], r.launch.Params...)
	clear(r.regions)
	r.isBuffer, r.bufferOf = 0, [code.MostOrigins]*memory.Region{}
	note := func(i int, reg *memory.Region) {
		if i < code.MostOrigins && reg != nil {
			r.isBuffer |= 1 << i
			r.bufferOf[i] = reg
		}
	}
	for i, p := range k.Params {
		if p.Size == 8 {
			note(i, r.mem.Owner(element.Load(r.bound[p.Offset:], 8)))
		}
	}
	for i := range k.Vars {
		if k.Vars[i].Space == ir.Global {
			note(len(k.Params)+i, r.mem.Named(k.Vars[i].Name))
		}
	}
	r.bindWritten()
}

// checkRegions checks lanes that may lie in different buffers.
func (r *Runner) checkRegions(w *warp, in *code.Instr, a *code.Access, mask uint32) signal {
	width := uint64(a.Width)
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		if reg := r.regions[a.Index]; reg != nil && reg.Holds(r.addr[l], width) {
			continue
		}
		reg := r.meant(a, r.addr[l], width)
		if reg == nil {
			return r.stray(w, in, a, l)
		}
		r.regions[a.Index] = reg
	}
	return next
}

// meant returns the buffer that an access may touch at an address, nil for none.
func (r *Runner) meant(a *code.Access, addr, width uint64) *memory.Region {
	from := r.p.Origins[a.Index] & r.isBuffer
	if from == 0 {
		return r.mem.Find(addr, width)
	}
	for ; from != 0; from &= from - 1 {
		if reg := r.bufferOf[bits.TrailingZeros64(from)]; reg.Holds(addr, width) {
			return reg
		}
	}
	return nil
}

// stray is the fault of a lane whose access lies in no buffer that it may touch. It names the
// nearest of these.
func (r *Runner) stray(w *warp, in *code.Instr, a *code.Access, lane int) signal {
	addr := r.addr[lane]
	f := fault.Fault{Kind: fault.OutOfBounds, Space: ir.Global, Address: addr, Thread: w.thread(lane), Write: a.Write, Width: a.Width}
	var best *memory.Region
	consider := func(reg *memory.Region) {
		if best == nil || reg.Distance(addr) < best.Distance(addr) {
			best = reg
		}
	}
	from := r.p.Origins[a.Index] & r.isBuffer
	f.Meant = bits.OnesCount64(from) == 1
	for rest := from; rest != 0; rest &= rest - 1 {
		consider(r.bufferOf[bits.TrailingZeros64(rest)])
	}
	if from == 0 {
		for _, reg := range r.mem.Regions() {
			consider(reg)
		}
	}
	if best == nil {
		f.Detail = "no buffer is allocated"
		return r.fail(w, in, f)
	}
	f.Buffer, f.Elem, f.Elements = best.Name, best.Elem, best.Count
	f.Before, f.Away = addr < best.Base, best.Distance(addr)
	f.Crosses = addr-best.Base < best.Size
	return r.fail(w, in, f)
}

// bank is the part of the constant bank that an access may read.
func (r *Runner) bank(a *code.Access) code.Stretch {
	if n := uint64(len(r.mem.Constants())); a.Bank.Hi == 0 || a.Bank.Hi > n {
		return code.Stretch{Lo: 0, Hi: n}
	}
	return a.Bank
}

// withinBank checks the lanes against the constant bank, or the variables in it that the
// address comes from.
func (r *Runner) withinBank(w *warp, in *code.Instr, a *code.Access, mask uint32, e extent) signal {
	bank, width := r.bank(a), uint64(a.Width)
	if e.lo >= bank.Lo && bank.Holds(e.hi, width) {
		return next
	}
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		v := r.addr[l]
		if bank.Holds(v, width) {
			continue
		}
		f := fault.Fault{Kind: fault.OutOfBounds, Space: ir.Const, Address: v, Thread: w.thread(l), Write: a.Write, Width: a.Width,
			Detail: sizeText(ir.Const, uint64(len(r.mem.Constants())))}
		r.nameConstant(&f, bank)
		return r.fail(w, in, f)
	}
	return next
}

// nameConstant says in a fault which variable a stretch of the constant bank is.
func (r *Runner) nameConstant(f *fault.Fault, bank code.Stretch) {
	for _, v := range r.p.Kernel.Vars {
		if v.Space != ir.Const || uint64(v.Offset) != bank.Lo || uint64(v.Offset+v.Size) != bank.Hi {
			continue
		}
		at := memory.Region{Base: bank.Lo, Size: bank.Hi - bank.Lo}
		f.Buffer, f.Elem, f.Meant, f.Detail = v.Name, v.Elem, true, ""
		f.Elements = int64(v.Size / max(1, v.Elem.Size()))
		f.Before, f.Away, f.Crosses = f.Address < bank.Lo, at.Distance(f.Address), f.Address-bank.Lo < at.Size
		return
	}
}
