package hir

import (
	"github.com/warptune/warptune/simengine/assemble/vreg"
	"github.com/warptune/warptune/simengine/ir"
)

// OnePredecessor reports whether a block is entered from one block only. The entry is entered from
// outside.
func (f *Func) OnePredecessor(b int) bool { return b != 0 && len(f.Blocks[b].Preds) == 1 }

// Link recomputes predecessors, reverse post-order and dominators from the successors.
func (f *Func) Link() {
	for b := range f.Blocks {
		f.Blocks[b].Preds = f.Blocks[b].Preds[:0]
	}
	seen := make([]bool, len(f.Blocks))
	post := make([]int, 0, len(f.Blocks))
	var walk func(b int)
	walk = func(b int) {
		seen[b] = true
		// Fall-through last: it then follows directly in reverse post-order.
		for i := len(f.Blocks[b].Succs) - 1; i >= 0; i-- {
			if s := f.Blocks[b].Succs[i]; !seen[s] {
				walk(s)
			}
		}
		post = append(post, b)
	}
	if len(f.Blocks) > 0 {
		walk(0)
	}
	f.Order = f.Order[:0]
	for i := len(post) - 1; i >= 0; i-- {
		f.Order = append(f.Order, post[i])
	}
	for _, b := range f.Order {
		for _, s := range f.Blocks[b].Succs {
			f.Blocks[s].Preds = append(f.Blocks[s].Preds, b)
		}
	}
	f.dominators()
}

// dominators computes immediate dominators (Cooper, Harvey and Kennedy, "A Simple, Fast Dominance
// Algorithm", 2001).
func (f *Func) dominators() {
	pos := make([]int, len(f.Blocks))
	for i, b := range f.Order {
		pos[b] = i
		f.Blocks[b].IDom = -1
	}
	if len(f.Order) == 0 {
		return
	}
	f.Blocks[f.Order[0]].IDom = f.Order[0]
	for changed := true; changed; {
		changed = false
		for _, b := range f.Order[1:] {
			d := -1
			for _, p := range f.Blocks[b].Preds {
				if f.Blocks[p].IDom < 0 {
					continue
				}
				for q := p; d >= 0 && q != d; {
					if pos[q] > pos[d] {
						q = f.Blocks[q].IDom
					} else {
						d = f.Blocks[d].IDom
					}
				}
				if d < 0 {
					d = p
				}
			}
			if d != f.Blocks[b].IDom {
				f.Blocks[b].IDom, changed = d, true
			}
		}
	}
}

// Dominates reports whether block a dominates block b.
func (f *Func) Dominates(a, b int) bool {
	for {
		if a == b {
			return true
		}
		d := f.Blocks[b].IDom
		if d == b || d < 0 {
			return false
		}
		b = d
	}
}

// Carrier is the block whose code node n is part of.
func (f *Func) Carrier(n *Node) int {
	if m := f.Blocks[n.Block].Merged; m >= 0 {
		return m
	}
	return int(n.Block)
}

// IsExit reports whether block b is only an exit, which its predecessors take over.
func (f *Func) IsExit(b int) bool { return b != f.Order[0] && f.OnlyExits(b) }

// OnlyExits reports whether a block does nothing but exit.
func (f *Func) OnlyExits(b int) bool {
	ns := f.Blocks[b].Nodes
	return len(ns) == 1 && f.Nodes[ns[0]].Op == ir.Exit && f.Nodes[ns[0]].Guard == vreg.None
}

// CondBranch returns the conditional branch that ends a block, nil where there is none.
func (f *Func) CondBranch(b int) *Node {
	hb := &f.Blocks[b]
	if len(hb.Nodes) == 0 || len(hb.Succs) != 2 {
		return nil
	}
	br := &f.Nodes[hb.Nodes[len(hb.Nodes)-1]]
	if br.Op != ir.Bra || br.Guard == vreg.None || f.Values[br.Guard].Defs != 1 {
		return nil
	}
	return br
}

// InnermostLoops marks the blocks of loops that contain no other loop.
func (f *Func) InnermostLoops() []bool {
	out := make([]bool, len(f.Blocks))
	deep := map[int]int{} // loop header: deepest block that it dominates in its loop
	for _, b := range f.Order {
		for h := f.Kernel.Blocks[b].LoopHead; h >= 0; {
			deep[h] = max(deep[h], f.Blocks[b].LoopDepth)
			next := -1
			for d := f.Blocks[h].IDom; d >= 0; d = f.Blocks[d].IDom {
				if x := f.Kernel.Blocks[d].LoopHead; x >= 0 && x != h && f.Blocks[d].LoopDepth < f.Blocks[h].LoopDepth {
					next = x
					break
				}
				if f.Blocks[d].IDom == d || f.Blocks[d].LoopDepth == 0 {
					break
				}
			}
			h = next
		}
	}
	for _, b := range f.Order {
		if h := f.Kernel.Blocks[b].LoopHead; h >= 0 {
			out[b] = deep[h] <= f.Blocks[b].LoopDepth
		}
	}
	return out
}

// CountUses counts the operands that name each value, guards among them.
func (f *Func) CountUses() []int32 {
	uses := make([]int32, len(f.Values))
	for _, b := range f.Order {
		for _, ni := range f.Blocks[b].Nodes {
			n := &f.Nodes[ni]
			if n.Guard != vreg.None {
				uses[n.Guard]++
			}
			for i := range n.Src {
				if o := &n.Src[i]; (o.Kind == ir.OperandReg || o.Kind == ir.OperandAddr) && o.Reg != ir.NoReg {
					uses[o.Reg]++
				}
			}
		}
	}
	return uses
}
