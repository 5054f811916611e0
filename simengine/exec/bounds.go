package exec

import (
	"bytes"
	"math/bits"

	"github.com/warptune/warptune/simengine/exec/element"
	"github.com/warptune/warptune/simengine/exec/fault"
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

// stretch is the bytes from lo to before hi.
type stretch struct{ lo, hi uint64 }

// The origins of an access are a bit set: parameters from bit 0 on, then variables in .global
// memory. mostOrigins is how many are distinguished.
const mostOrigins = 64

// origins returns the origins of an access; 0 means any buffer. For constant memory it sets the
// bytes of the bank that the access may read.
func (c *compiler) origins(a *access, address *ir.Operand) uint64 {
	var all uint64
	from := c.pointers.Origins(address)
	for _, p := range from.Params {
		if c.k.Params[p].Size == 8 {
			all |= c.origin(p)
		}
	}
	for _, v := range from.Vars {
		switch at := &c.k.Vars[v]; at.Space {
		case ir.Global:
			all |= c.origin(len(c.k.Params) + v)
		case ir.Const:
			if at.Size == 0 {
				return 0
			}
			part := stretch{uint64(at.Offset), uint64(at.Offset + at.Size)}
			if a.bank.hi > 0 {
				part.lo, part.hi = min(part.lo, a.bank.lo), max(part.hi, a.bank.hi)
			}
			a.bank = part
		}
	}
	if len(from.Params)+len(from.Vars) > bits.OnesCount64(all) {
		return 0 // what is no buffer may hold pointers
	}
	return all
}

func (c *compiler) origin(i int) uint64 {
	if i >= mostOrigins {
		return 0
	}
	return 1 << i
}

// bind finds the buffers that parameters point into and that variables are, once for all CTAs of a
// launch.
func (r *Runner) bind() {
	k := r.p.Kernel
	if r.boundTo == r.mem && bytes.Equal(r.bound, r.launch.Params) {
		return
	}
	r.boundTo, r.bound = r.mem, append(r.bound[:0], r.launch.Params...)
	clear(r.regions)
	r.isBuffer, r.bufferOf = 0, [mostOrigins]*memory.Region{}
	note := func(i int, reg *memory.Region) {
		if i < mostOrigins && reg != nil {
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
func (r *Runner) checkRegions(w *warp, in *instr, a *access, mask uint32) signal {
	width := uint64(a.width)
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		if reg := r.regions[a.index]; reg != nil && reg.Holds(r.addr[l], width) {
			continue
		}
		reg := r.meant(a, r.addr[l], width)
		if reg == nil {
			return r.stray(w, in, a, l)
		}
		r.regions[a.index] = reg
	}
	return next
}

// meant returns the buffer that an access may touch at an address, nil for none.
func (r *Runner) meant(a *access, addr, width uint64) *memory.Region {
	from := r.p.origins[a.index] & r.isBuffer
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
func (r *Runner) stray(w *warp, in *instr, a *access, lane int) signal {
	addr := r.addr[lane]
	f := fault.Fault{Kind: fault.OutOfBounds, Space: ir.Global, Address: addr, Thread: w.thread(lane), Write: a.write, Width: a.width}
	var best *memory.Region
	consider := func(reg *memory.Region) {
		if best == nil || reg.Distance(addr) < best.Distance(addr) {
			best = reg
		}
	}
	from := r.p.origins[a.index] & r.isBuffer
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
func (r *Runner) bank(a *access) stretch {
	if n := uint64(len(r.mem.Constants())); a.bank.hi == 0 || a.bank.hi > n {
		return stretch{0, n}
	}
	return a.bank
}

// withinBank checks the lanes against the constant bank, or the variables in it that the
// address comes from.
func (r *Runner) withinBank(w *warp, in *instr, a *access, mask uint32, e extent) signal {
	bank, width := r.bank(a), uint64(a.width)
	if e.lo >= bank.lo && bank.holds(e.hi, width) {
		return next
	}
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		v := r.addr[l]
		if bank.holds(v, width) {
			continue
		}
		f := fault.Fault{Kind: fault.OutOfBounds, Space: ir.Const, Address: v, Thread: w.thread(l), Write: a.write, Width: a.width,
			Detail: sizeText(ir.Const, uint64(len(r.mem.Constants())))}
		r.nameConstant(&f, bank)
		return r.fail(w, in, f)
	}
	return next
}

// nameConstant says in a fault which variable a stretch of the constant bank is.
func (r *Runner) nameConstant(f *fault.Fault, bank stretch) {
	for _, v := range r.p.Kernel.Vars {
		if v.Space != ir.Const || uint64(v.Offset) != bank.lo || uint64(v.Offset+v.Size) != bank.hi {
			continue
		}
		at := memory.Region{Base: bank.lo, Size: bank.hi - bank.lo}
		f.Buffer, f.Elem, f.Meant, f.Detail = v.Name, v.Elem, true, ""
		f.Elements = int64(v.Size / max(1, v.Elem.Size()))
		f.Before, f.Away, f.Crosses = f.Address < bank.lo, at.Distance(f.Address), f.Address-bank.lo < at.Size
		return
	}
}
