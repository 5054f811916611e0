package exec

import (
	"math/bits"

	"github.com/warptune/warptune/simengine/exec/alu"
	"github.com/warptune/warptune/simengine/exec/internal/code"
	"github.com/warptune/warptune/simengine/ir"
)

// leaveBlock moves the top frame to the next block.
func (r *Runner) leaveBlock(w *warp, b *code.Block) {
	t := w.top()
	taken := t.mask
	if b.HasGuard {
		taken = w.guarded(t.mask, b.Guard, b.GuardNot)
	}
	switch b.Terminator {
	case code.FallThrough:
		t.block = b.Fall
	case code.Exit:
		w.exitLanes(taken)
		t.block = b.Fall
	case code.Branch:
		r.branch(w, b, t, taken, b.Target)
	case code.IndexedBranch:
		r.branchIndexed(w, b, t, taken)
	}
}

func (r *Runner) branch(w *warp, b *code.Block, t *frame, taken uint32, target int32) {
	switch {
	case taken == t.mask:
		t.block = target
	case taken == 0:
		t.block = b.Fall
	default:
		// The fall-through lanes are pushed last and so run first.
		w.diverge(b.IPDom, [2]int32{target, b.Fall}, [2]uint32{taken, t.mask &^ taken}, b.LeavesYielding)
	}
}

// branchIndexed is brx.idx: lanes may go to many blocks. An index past the
// end of the list is undefined; it takes the last target here.
func (r *Runner) branchIndexed(w *warp, b *code.Block, t *frame, taken uint32) {
	mask, rest, base := t.mask, taken, len(w.stack)
	if mask != taken && b.Fall >= 0 {
		w.stack = append(w.stack, frame{block: b.Fall, rpc: b.IPDom, mask: mask &^ taken, since: w.tick})
	}
	index := &w.r32[b.Index]
	target := func(l int) int32 { return b.Targets[min(int(index[l]), len(b.Targets)-1)] }
	for rest != 0 {
		to := target(bits.TrailingZeros32(rest))
		var lanes uint32
		for m := rest; m != 0; m &= m - 1 {
			if l := bits.TrailingZeros32(m); target(l) == to {
				lanes |= 1 << l
			}
		}
		rest &^= lanes
		w.stack = append(w.stack, frame{block: to, rpc: b.IPDom, mask: lanes, since: w.tick})
	}
	t = &w.stack[base-1]
	if len(w.stack) == base+1 {
		t.block = w.stack[base].block
		w.stack = w.stack[:base]
		return
	}
	if t.rpc == b.IPDom {
		w.stack = append(w.stack[:base-1], w.stack[base:]...)
	} else {
		t.block, t.since = b.IPDom, w.tick
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
func (w *warp) predicateValue(x *code.Extra, n int) uint32 {
	s := x.Src[n]
	var v uint32
	if s.File == code.FilePred {
		v = w.pred[s.Index]
	} else if w.r32[s.Index][0] != 0 {
		v = ^uint32(0) // a constant
	}
	if x.Not>>n&1 == 1 {
		v = ^v
	}
	return v
}

// putPredicate writes the lanes of mask.
func (w *warp) putPredicate(s code.Slot, v, mask uint32) {
	if s.File == code.FilePred {
		w.pred[s.Index] = w.pred[s.Index]&^mask | v&mask
	}
}

func (r *Runner) setp(w *warp, in *code.Instr, mask uint32) {
	x := in.X
	var v uint32
	if x.Cmp32 != nil {
		v = x.Cmp32(&w.r32[in.A], &w.r32[in.B])
	} else {
		v = x.Cmp64(&w.r64[in.A], &w.r64[in.B])
	}
	q := ^v
	if x.BoolOp != ir.BoolNone && len(x.Src) > 2 {
		c := w.predicateValue(x, 2)
		v, q = combine(x.BoolOp, v, c), combine(x.BoolOp, q, c)
	}
	w.putPredicate(x.Dst[0], v, mask)
	if len(x.Dst) > 1 {
		w.putPredicate(x.Dst[1], q, mask)
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

func (r *Runner) predicate(w *warp, in *code.Instr, mask uint32) {
	v := w.predicateValue(in.X, 0)
	switch r.p.Kernel.Instrs[in.PC].Op {
	case ir.Not:
		v = ^v
	case ir.And:
		v &= w.predicateValue(in.X, 1)
	case ir.Or:
		v |= w.predicateValue(in.X, 1)
	case ir.Xor:
		v ^= w.predicateValue(in.X, 1)
	}
	w.putPredicate(in.X.Dst[0], v, mask)
}

func (r *Runner) selp(w *warp, in *code.Instr, mask uint32) {
	p := w.predicateValue(in.X, 2)
	if in.X.Dst[0].File == code.File64 {
		choose(&w.r64[in.D], &w.r64[in.A], &w.r64[in.B], p, mask)
		return
	}
	choose(&w.r32[in.D], &w.r32[in.A], &w.r32[in.B], p, mask)
}

func choose[T alu.Word](d, a, b *[WarpSize]T, p, mask uint32) {
	if mask == ^uint32(0) {
		for l := range d {
			all := -T(p >> l & 1) // ones in lanes of p
			d[l] = b[l] ^ (a[l]^b[l])&all
		}
		return
	}
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m) & (WarpSize - 1)
		if p>>l&1 == 1 {
			d[l] = a[l]
		} else {
			d[l] = b[l]
		}
	}
}
