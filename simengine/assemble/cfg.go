package assemble

import "github.com/warptune/warptune/simengine/ir"

// oneWay says that a block is reached from one other only; the first is from outside as well.
func (f *hfn) oneWay(b int) bool { return b != 0 && len(f.blocks[b].preds) == 1 }

// link recomputes predecessors and the reverse post-order from successors.
func (f *hfn) link() {
	for b := range f.blocks {
		f.blocks[b].preds = f.blocks[b].preds[:0]
	}
	seen := make([]bool, len(f.blocks))
	post := make([]int, 0, len(f.blocks))
	var walk func(b int)
	walk = func(b int) {
		seen[b] = true
		// Fall-through last, so that it follows directly in reverse post-order.
		for i := len(f.blocks[b].succs) - 1; i >= 0; i-- {
			if s := f.blocks[b].succs[i]; !seen[s] {
				walk(s)
			}
		}
		post = append(post, b)
	}
	if len(f.blocks) > 0 {
		walk(0)
	}
	f.order = f.order[:0]
	for i := len(post) - 1; i >= 0; i-- {
		f.order = append(f.order, post[i])
	}
	for _, b := range f.order {
		for _, s := range f.blocks[b].succs {
			f.blocks[s].preds = append(f.blocks[s].preds, b)
		}
	}
	f.dominators()
}

// dominators fills idom (Cooper, Harvey and Kennedy's iteration).
func (f *hfn) dominators() {
	pos := make([]int, len(f.blocks))
	for i, b := range f.order {
		pos[b] = i
		f.blocks[b].idom = -1
	}
	if len(f.order) == 0 {
		return
	}
	f.blocks[f.order[0]].idom = f.order[0]
	for changed := true; changed; {
		changed = false
		for _, b := range f.order[1:] {
			d := -1
			for _, p := range f.blocks[b].preds {
				if f.blocks[p].idom < 0 {
					continue
				}
				for q := p; d >= 0 && q != d; {
					if pos[q] > pos[d] {
						q = f.blocks[q].idom
					} else {
						d = f.blocks[d].idom
					}
				}
				if d < 0 {
					d = p
				}
			}
			if d != f.blocks[b].idom {
				f.blocks[b].idom, changed = d, true
			}
		}
	}
}

// dominates says whether block a dominates block b.
func (f *hfn) dominates(a, b int) bool {
	for {
		if a == b {
			return true
		}
		d := f.blocks[b].idom
		if d == b || d < 0 {
			return false
		}
		b = d
	}
}

// carrier is the block whose code a node is part of.
func (f *hfn) carrier(n *node) int {
	if m := f.blocks[n.block].merged; m >= 0 {
		return m
	}
	return int(n.block)
}

// exitBlock says whether block b consists of an exit that its predecessors
// take over.
func (f *hfn) exitBlock(b int) bool { return b != f.order[0] && f.exitOnly(b) }

// exitOnly says whether a block does nothing but exit.
func (f *hfn) exitOnly(b int) bool {
	ns := f.blocks[b].nodes
	return len(ns) == 1 && f.nodes[ns[0]].op == ir.Exit && f.nodes[ns[0]].guard == noValue
}

// branch returns the conditional branch that ends a block, nil when there is none.
func (f *hfn) branch(b int) *node {
	hb := &f.blocks[b]
	if len(hb.nodes) == 0 || len(hb.succs) != 2 {
		return nil
	}
	br := &f.nodes[hb.nodes[len(hb.nodes)-1]]
	if br.op != ir.Bra || br.guard == noValue || f.vals[br.guard].defs != 1 {
		return nil
	}
	return br
}

// innermostLoops marks the blocks of loops that contain no other loop.
func (f *hfn) innermostLoops() []bool {
	out := make([]bool, len(f.blocks))
	deep := map[int]int{} // loop header: deepest block that it dominates in its loop
	for _, b := range f.order {
		for h := f.k.Blocks[b].LoopHead; h >= 0; {
			deep[h] = max(deep[h], f.blocks[b].depth)
			next := -1
			for d := f.blocks[h].idom; d >= 0; d = f.blocks[d].idom {
				if x := f.k.Blocks[d].LoopHead; x >= 0 && x != h && f.blocks[d].depth < f.blocks[h].depth {
					next = x
					break
				}
				if f.blocks[d].idom == d || f.blocks[d].depth == 0 {
					break
				}
			}
			h = next
		}
	}
	for _, b := range f.order {
		if h := f.k.Blocks[b].LoopHead; h >= 0 {
			out[b] = deep[h] <= f.blocks[b].depth
		}
	}
	return out
}

// uses of each value by nodes, counted once before selection.
func (f *hfn) countUses() []int32 {
	uses := make([]int32, len(f.vals))
	for _, b := range f.order {
		for _, ni := range f.blocks[b].nodes {
			n := &f.nodes[ni]
			if n.guard != noValue {
				uses[n.guard]++
			}
			for i := range n.src {
				if o := &n.src[i]; (o.Kind == ir.OperandReg || o.Kind == ir.OperandAddr) && o.Reg != ir.NoReg {
					uses[o.Reg]++
				}
			}
		}
	}
	return uses
}
