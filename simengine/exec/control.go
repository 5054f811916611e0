package exec

import (
	"math/bits"

	"github.com/warptune/warptune/simengine/exec/alu"
	"github.com/warptune/warptune/simengine/ir"
)

// leaveBlock moves the top frame to the next block.
func (r *Runner) leaveBlock(w *warp, b *block) {
	t := w.top()
	taken := t.mask
	if b.hasGuard {
		taken = w.guarded(t.mask, b.guard, b.guardNot)
	}
	switch b.term {
	case fallThrough:
		t.block = b.fall
	case exit:
		w.exitLanes(taken)
		t.block = b.fall
	case branch:
		r.branch(w, b, t, taken, b.target)
	case indexedBranch:
		r.branchIndexed(w, b, t, taken)
	}
}

func (r *Runner) branch(w *warp, b *block, t *frame, taken uint32, target int32) {
	switch {
	case taken == t.mask:
		t.block = target
	case taken == 0:
		t.block = b.fall
	default:
		// The fall-through lanes are pushed last and so run first.
		w.diverge(b.ipdom, [2]int32{target, b.fall}, [2]uint32{taken, t.mask &^ taken}, b.leaves)
	}
}

// branchIndexed is brx.idx: lanes may go to many blocks. An index past the
// end of the list is undefined; it takes the last target here.
func (r *Runner) branchIndexed(w *warp, b *block, t *frame, taken uint32) {
	mask, rest, base := t.mask, taken, len(w.stack)
	if mask != taken && b.fall >= 0 {
		w.stack = append(w.stack, frame{block: b.fall, rpc: b.ipdom, mask: mask &^ taken, since: w.tick})
	}
	index := &w.r32[b.index]
	target := func(l int) int32 { return b.targets[min(int(index[l]), len(b.targets)-1)] }
	for rest != 0 {
		to := target(bits.TrailingZeros32(rest))
		var lanes uint32
		for m := rest; m != 0; m &= m - 1 {
			if l := bits.TrailingZeros32(m); target(l) == to {
				lanes |= 1 << l
			}
		}
		rest &^= lanes
		w.stack = append(w.stack, frame{block: to, rpc: b.ipdom, mask: lanes, since: w.tick})
	}
	t = &w.stack[base-1]
	if len(w.stack) == base+1 {
		t.block = w.stack[base].block
		w.stack = w.stack[:base]
		return
	}
	if t.rpc == b.ipdom {
		w.stack = append(w.stack[:base-1], w.stack[base:]...)
	} else {
		t.block, t.since = b.ipdom, w.tick
	}
	kept, gone := w.stack[:0], uint32(0)
	for _, f := range w.stack {
		if f.block != f.rpc || f.rpc < 0 {
			kept = append(kept, f)
		} else if w.exitsAt(f.rpc) {
			gone |= f.mask
		}
	}
	if w.stack = kept; gone != w.live {
		w.exitLanes(gone)
	}
}

// predicateValue is a predicate source as a mask.
func (w *warp) predicateValue(x *extra, n int) uint32 {
	s := x.src[n]
	var v uint32
	if s.file == filePred {
		v = w.pred[s.index]
	} else if w.r32[s.index][0] != 0 {
		v = ^uint32(0) // a constant
	}
	if x.not>>n&1 == 1 {
		v = ^v
	}
	return v
}

// putPredicate writes the lanes of mask.
func (w *warp) putPredicate(s slot, v, mask uint32) {
	if s.file == filePred {
		w.pred[s.index] = w.pred[s.index]&^mask | v&mask
	}
}

func (r *Runner) setp(w *warp, in *instr, mask uint32) {
	x := in.x
	var v uint32
	if x.cmp32 != nil {
		v = x.cmp32(&w.r32[in.a], &w.r32[in.b])
	} else {
		v = x.cmp64(&w.r64[in.a], &w.r64[in.b])
	}
	q := ^v
	if x.bool != ir.BoolNone && len(x.src) > 2 {
		c := w.predicateValue(x, 2)
		v, q = combine(x.bool, v, c), combine(x.bool, q, c)
	}
	w.putPredicate(x.dst[0], v, mask)
	if len(x.dst) > 1 {
		w.putPredicate(x.dst[1], q, mask)
	}
}

func combine(op ir.BoolOp, a, b uint32) uint32 {
	switch op {
	case ir.BoolAnd:
		return a & b
	case ir.BoolOr:
		return a | b
	}
	return a ^ b
}

func (r *Runner) predicate(w *warp, in *instr, mask uint32) {
	v := w.predicateValue(in.x, 0)
	switch r.p.Kernel.Instrs[in.pc].Op {
	case ir.Not:
		v = ^v
	case ir.And:
		v &= w.predicateValue(in.x, 1)
	case ir.Or:
		v |= w.predicateValue(in.x, 1)
	case ir.Xor:
		v ^= w.predicateValue(in.x, 1)
	}
	w.putPredicate(in.x.dst[0], v, mask)
}

func (r *Runner) selp(w *warp, in *instr, mask uint32) {
	p := w.predicateValue(in.x, 2)
	if in.x.dst[0].file == file64 {
		choose(&w.r64[in.d], &w.r64[in.a], &w.r64[in.b], p, mask)
		return
	}
	choose(&w.r32[in.d], &w.r32[in.a], &w.r32[in.b], p, mask)
}

func choose[T alu.Word](d, a, b *[WarpSize]T, p, mask uint32) {
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m) & (WarpSize - 1)
		if p>>l&1 == 1 {
			d[l] = a[l]
		} else {
			d[l] = b[l]
		}
	}
}
