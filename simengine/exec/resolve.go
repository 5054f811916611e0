package exec

import (
	"math/bits"

	"github.com/warptune/warptune/simengine/exec/alu"
	"github.com/warptune/warptune/simengine/exec/fault"
	"github.com/warptune/warptune/simengine/exec/internal/code"
	"github.com/warptune/warptune/simengine/exec/memory"
	"github.com/warptune/warptune/simengine/ir"
)

// extent is the least and the greatest of a set of addresses, and all their bits or-ed together.
type extent struct{ lo, hi, low uint64 }

// addresses fills out with the lanes' addresses, inactive lanes included, and
// returns their extent.
func (w *warp) addresses(a *code.Access, out *alu.Vec64) extent {
	lo, hi, low := ^uint64(0), uint64(0), uint64(0)
	switch a.Base.File {
	case code.File64:
		b, off := &w.r64[a.Base.Index], a.Offset
		for l := range out {
			v := b[l] + off
			out[l] = v
			lo, hi, low = min(lo, v), max(hi, v), low|v
		}
	case code.File32:
		b, off := &w.r32[a.Base.Index], uint32(a.Offset)
		for l := range out {
			v := uint64(b[l] + off)
			out[l] = v
			lo, hi, low = min(lo, v), max(hi, v), low|v
		}
	default:
		fill(out, a.Offset)
		return extent{a.Offset, a.Offset, a.Offset}
	}
	return extent{lo, hi, low}
}

// extentOf is the extent of the addresses of the lanes in mask.
func extentOf(addr *alu.Vec64, mask uint32) extent {
	e := extent{lo: ^uint64(0)}
	for m := mask; m != 0; m &= m - 1 {
		v := addr[bits.TrailingZeros32(m)&(WarpSize-1)]
		e.lo, e.hi, e.low = min(e.lo, v), max(e.hi, v), e.low|v
	}
	return e
}

// of is the extent of the lanes in mask; e is that of all.
func (e extent) of(addr *alu.Vec64, mask uint32) extent {
	if mask == ^uint32(0) {
		return e
	}
	return extentOf(addr, mask)
}

// memory runs a memory instruction for the lanes in mask.
func (r *Runner) memory(w *warp, in *code.Instr, mask uint32) signal {
	a := in.X.Access
	active := mask
	mask &= a.Lanes
	if a.LeftOut(r.scope) {
		return next
	}
	if a.Family != 0 && r.follow(w, in, mask) {
		return next
	}
	e := w.addresses(a, &r.addr)
	switch {
	case a.Space == ir.ParamSpace:
		return r.loadParam(w, in, mask, e)
	case a.Op == ir.CpAsync:
		return r.copyAsync(w, in, mask, e)
	case a.Space == ir.Generic:
		return r.generic(w, in, mask)
	case a.Space == ir.SharedCluster:
		return r.distributed(w, in, mask)
	}
	e = e.of(&r.addr, mask)
	if a.Family != 0 {
		r.lead(w, in, mask, e)
	}
	s := r.resolved(w, in, a, a.Space, mask, e)
	if s == next && a.Matrix && a.Op == ir.St && a.Data {
		r.storeMatrices(w, in, mask)
	} else if s == next && a.Matrix && a.Data {
		if r.definedness != nil {
			r.definedness.matrices(r, w, in, active)
		}
		r.loadMatrices(w, in, active)
	}
	return s
}

// generic performs a generic access once for each state space that lanes' addresses lie in.
func (r *Runner) generic(w *warp, in *code.Instr, mask uint32) signal {
	for rest := mask; rest != 0; {
		first := bits.TrailingZeros32(rest)
		space, base := splitGeneric(r.addr[first])
		var lanes uint32
		for m := rest; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			if s, _ := splitGeneric(r.addr[l]); s == space {
				lanes |= 1 << l
				r.addr[l] -= base
			}
		}
		e := extentOf(&r.addr, lanes)
		s := next
		if space == ir.Shared && e.hi >= 1<<clusterShift {
			s = r.distributed(w, in, lanes)
		} else {
			s = r.resolved(w, in, in.X.Access, space, lanes, e)
		}
		if s != next {
			return s
		}
		rest &^= lanes
	}
	return next
}

// splitGeneric returns the state space that a generic address lies in and the base of its window.
func splitGeneric(addr uint64) (ir.Space, uint64) {
	switch addr &^ (memory.WindowSize - 1) {
	case memory.SharedWindow:
		return ir.Shared, memory.SharedWindow
	case memory.LocalWindow:
		return ir.Local, memory.LocalWindow
	case memory.ConstWindow:
		return ir.Const, memory.ConstWindow
	case memory.ParamWindow:
		return ir.ParamSpace, memory.ParamWindow
	}
	return ir.Global, 0
}

// resolved performs an access whose state space is known: it checks, tells the observer, and moves
// data.
func (r *Runner) resolved(w *warp, in *code.Instr, a *code.Access, space ir.Space, mask uint32, e extent) signal {
	if space == ir.ParamSpace {
		return r.loadParam(w, in, mask, e)
	}
	if s := r.check(w, in, a, space, mask, e); s != next {
		bad, s := r.goPast(a, space, mask)
		if s != next {
			return s
		}
		if a.Data {
			r.blank(w, in, bad)
		}
		if mask &^= bad; mask == 0 {
			return next
		}
		e = extentOf(&r.addr, mask)
	}
	r.observe(w, in, space, a.Width, mask, a.Data)
	return r.perform(w, in, a, space, mask, e)
}

// perform checks an access against others, and moves data.
func (r *Runner) perform(w *warp, in *code.Instr, a *code.Access, space ir.Space, mask uint32, e extent) signal {
	if r.handed != nil && space == ir.Shared {
		r.noteWord(w, in, a, mask)
	}
	if r.p.Tracks && space == ir.Shared {
		if s := r.touchTiles(w, in, a, mask); s != next {
			return s
		}
	}
	if r.filter != nil && space == ir.Shared && !r.passesFilter(w, a, mask, e) {
		r.suspect = true
		return faulted
	}
	if r.races != nil {
		if s := r.raceCheck(w, in, a, space, mask); s != next {
			return s
		}
	}
	if r.definedness != nil {
		r.definedness.access(r, w, in, a, space, mask)
	}
	if !a.Data {
		return next
	}
	return r.move(w, in, a, space, mask)
}

// move moves the data of an access.
func (r *Runner) move(w *warp, in *code.Instr, a *code.Access, space ir.Space, mask uint32) signal {
	switch {
	case in.X.Atom != nil:
		return r.atomic(w, in, space, mask)
	case a.Matrix:
		return next // see memory: other lanes take part than those that give addresses
	case a.Read:
		return r.load(w, in, a, space, mask)
	}
	return r.store(w, in, a, space, mask)
}

// check finds lanes that are misaligned or out of bounds.
func (r *Runner) check(w *warp, in *code.Instr, a *code.Access, space ir.Space, mask uint32, e extent) signal {
	width, hi := uint64(a.Width), e.hi
	if e.low&(width-1) != 0 && width&(width-1) == 0 {
		return r.misaligned(w, in, space, mask, width)
	}
	switch space {
	case ir.Global:
		reg := r.regions[a.Index]
		if reg != nil && reg.Holds(e.lo, width) && reg.Holds(hi, width) {
			return next
		}
		return r.checkRegions(w, in, a, mask)
	case ir.Shared:
		return r.within(w, in, space, mask, hi, width, uint64(len(r.shared)))
	case ir.Local:
		return r.within(w, in, space, mask, hi, width, uint64(r.localBytes))
	case ir.Const:
		return r.withinBank(w, in, a, mask, e)
	}
	return r.fail(w, in, fault.Fault{Kind: fault.Unsupported, Space: space, Thread: -1, Detail: "access to this state space"})
}

// within checks the lanes against a space of the given size.
func (r *Runner) within(w *warp, in *code.Instr, space ir.Space, mask uint32, hi, width, size uint64) signal {
	if hi < size && width <= size-hi {
		return next
	}
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		if v := r.addr[l]; v >= size || width > size-v {
			return r.fail(w, in, fault.Fault{Kind: fault.OutOfBounds, Space: space, Address: v, Thread: w.thread(l), Detail: sizeText(space, size)})
		}
	}
	return next
}

func (r *Runner) misaligned(w *warp, in *code.Instr, space ir.Space, mask uint32, width uint64) signal {
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		if r.addr[l]&(width-1) != 0 {
			return r.fail(w, in, fault.Fault{Kind: fault.Misaligned, Space: space, Address: r.addr[l], Thread: w.thread(l), Detail: alignText(width)})
		}
	}
	return next
}
