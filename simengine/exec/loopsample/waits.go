package loopsample

import (
	"slices"

	"github.com/warptune/warptune/simengine/ir"
)

// In a slice every wait for an mbarrier's phase succeeds at once. So the branches that wait in a loop
// until it does are decided, and that loop is none.

// waits are registers of predicates and integers that are the same in the whole slice because of
// that, and the edges of the control flow that are left.
type waits struct {
	k      *ir.Kernel
	known  map[ir.Reg]uint64
	succs  [][]int // by block
	preds  [][]int
	exists bool // the kernel waits for mbarriers
}

func findWaits(k *ir.Kernel) *waits {
	w := &waits{k: k, known: map[ir.Reg]uint64{}}
	w.exists = slices.ContainsFunc(k.Instrs, func(in ir.Instr) bool { return in.Op == ir.MbarWait })
	if w.exists {
		w.evaluate()
	}
	w.edges()
	return w
}

// evaluate finds the registers all of whose definitions compute one known value.
func (w *waits) evaluate() {
	defs := map[ir.Reg][]int{}
	for pc := range w.k.Instrs {
		for _, r := range w.k.Instrs[pc].Dst {
			if r != ir.NoReg {
				defs[r] = append(defs[r], pc)
			}
		}
	}
	for changed := true; changed; {
		changed = false
		for r, list := range defs {
			if _, ok := w.known[r]; ok {
				continue
			}
			if v, ok := w.common(list); ok {
				w.known[r] = v
				changed = true
			}
		}
	}
}

// common is the value that all of some definitions compute.
func (w *waits) common(defs []int) (v uint64, ok bool) {
	for i, pc := range defs {
		x, known := w.value(&w.k.Instrs[pc])
		if !known || i > 0 && x != v {
			return 0, false
		}
		v = x
	}
	return v, len(defs) > 0
}

// value is what an instruction computes, if that is known.
func (w *waits) value(in *ir.Instr) (uint64, bool) {
	if in.Guard != ir.NoReg || len(in.Dst) != 1 {
		return 0, false
	}
	switch in.Op {
	case ir.MbarWait:
		return 1, true
	case ir.Mov:
		if len(in.Src) == 1 {
			return w.operand(&in.Src[0])
		}
	case ir.Selp:
		if p, ok := w.operand(&in.Src[2]); ok {
			return w.operand(&in.Src[1-p])
		}
	case ir.Setp:
		return w.compare(in)
	case ir.Not:
		v, ok := w.operand(&in.Src[0])
		return v ^ 1, ok && in.Type == ir.Pred
	}
	return 0, false
}

// compare is the result of a comparison for equality.
func (w *waits) compare(in *ir.Instr) (uint64, bool) {
	if len(in.Src) != 2 || in.Type.IsFloat() || in.Cmp != ir.CmpEQ && in.Cmp != ir.CmpNE {
		return 0, false
	}
	a, oka := w.operand(&in.Src[0])
	b, okb := w.operand(&in.Src[1])
	if (a == b) == (in.Cmp == ir.CmpEQ) {
		return 1, oka && okb
	}
	return 0, oka && okb
}

func (w *waits) operand(o *ir.Operand) (v uint64, ok bool) {
	switch o.Kind {
	case ir.OperandImm:
		v, ok = o.Imm, true
	case ir.OperandReg:
		v, ok = w.known[o.Reg]
	}
	if o.Not {
		v ^= 1
	}
	return v, ok
}

// decided reports whether it is known of the branch that ends a block where it goes, and the index of
// that successor.
func (w *waits) decided(b int) (succ int, ok bool) {
	blk := &w.k.Blocks[b]
	in := &w.k.Instrs[blk.End-1]
	if in.Op != ir.Bra || in.Guard == ir.NoReg {
		return 0, false
	}
	v, ok := w.known[in.Guard]
	if !ok {
		return 0, false
	}
	if to := w.k.BlockOf(in.Target); (v == 1) != in.GuardNot {
		return to, true
	}
	return b + 1, b+1 < len(w.k.Blocks)
}

// edges lists the edges that can be taken, from blocks that can be reached.
func (w *waits) edges() {
	n := len(w.k.Blocks)
	w.succs, w.preds = make([][]int, n), make([][]int, n)
	seen := make([]bool, n)
	seen[0] = true
	for work := []int{0}; len(work) > 0; {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		w.succs[b] = w.k.Blocks[b].Succs
		if to, ok := w.decided(b); ok {
			w.succs[b] = []int{to}
		}
		for _, s := range w.succs[b] {
			w.preds[s] = append(w.preds[s], b)
			if !seen[s] {
				seen[s] = true
				work = append(work, s)
			}
		}
	}
	if !w.exists { // as they are listed
		for b := range n {
			w.succs[b], w.preds[b] = w.k.Blocks[b].Succs, w.k.Blocks[b].Preds
		}
	}
}
