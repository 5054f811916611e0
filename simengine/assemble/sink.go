package assemble

import (
	"slices"

	"github.com/warptune/warptune/simengine/ir"
)

// Loads of the next tile that are taken under a condition, before a long computation that does not need them,
// are not predicated where they are many, and then the real assembler moves them, branch and all, behind the
// computation: to the barrier or the store that waits for them, whose wait is then in full view. Of 21 kernels
// of two batches whose next tile's loads it did not predicate (gemm_ahead and splitk_sgemm,
// deploy/calibrate/validation eighth and seventeenth) 20 have them behind all but 2 to 16 of 512 to 2,048
// products, one before them.

// sinkArm moves the branch at the end of block b behind what of the join does not need its arm: that is then
// at the end of b.
func (f *hfn) sinkArm(b int) bool {
	br := f.branch(b)
	if br == nil {
		return false
	}
	arm, join := f.blocks[b].succs[0], f.blocks[b].succs[1]
	if !f.oneWay(arm) || !slices.Equal(f.blocks[arm].succs, []int{join}) || join == 0 || join == b || f.blocks[b].holds != 0 || !f.joinsOnly(join, b, arm) || f.exitOnly(join) {
		return false
	}
	if f.armCost(arm) <= ifConvertLimit || !f.loadsOnly(arm) {
		return false
	}
	at := f.independent(arm, join)
	if at <= len(f.blocks[arm].nodes) || !f.readAfter(arm, join, at) {
		return false
	}
	hb, jb := &f.blocks[b], &f.blocks[join]
	last := len(hb.nodes) - 1
	branch := hb.nodes[last]
	hb.nodes = append(append(hb.nodes[:last], jb.nodes[:at]...), branch)
	jb.nodes, hb.holds = jb.nodes[at:], join
	return true
}

// joinsOnly says whether two blocks alone lead to a third.
func (f *hfn) joinsOnly(join, b, arm int) bool {
	p := f.blocks[join].preds
	return len(p) == 2 && slices.Contains(p, b) && slices.Contains(p, arm)
}

// loadsOnly says whether a block loads from global memory and else only computes.
func (f *hfn) loadsOnly(b int) bool {
	loads := 0
	for _, ni := range f.blocks[b].nodes {
		switch n := &f.nodes[ni]; {
		case n.op == ir.Ld && n.space == ir.Global:
			loads++
		case n.op == ir.Ld && n.space != ir.ParamSpace && n.space != ir.Const, n.op == ir.St, n.op == ir.Prefetch:
			return false
		}
	}
	return loads > 0
}

// independent is how many of a block's first nodes neither need what an arm computes nor change what it needs, nor
// order memory.
func (f *hfn) independent(arm, join int) int {
	nodes := f.blocks[join].nodes
	for at, ni := range nodes {
		n := &f.nodes[ni]
		switch n.op {
		case ir.Bar, ir.BarRed, ir.BarWarp, ir.Membar, ir.Atom, ir.Red, ir.CpAsync:
			return at
		case ir.St:
			if n.space != ir.Shared {
				return at
			}
		}
		if n.isTerminator() || f.touches(arm, n) {
			return at
		}
	}
	return len(nodes)
}

// touches says whether a node reads or writes what an arm writes, or writes what it reads.
func (f *hfn) touches(arm int, n *node) bool {
	for _, ai := range f.blocks[arm].nodes {
		a := &f.nodes[ai]
		for _, v := range a.dst {
			if v >= 0 && (n.reads(v) > 0 || slices.Contains(n.dst, v)) {
				return true
			}
		}
		for _, v := range n.dst {
			if v >= 0 && a.reads(v) > 0 {
				return true
			}
		}
	}
	return false
}

// readAfter says whether what an arm computes is read in its join from a node on, or in a block that follows it
// and is not the loop's first.
func (f *hfn) readAfter(arm, join, at int) bool {
	if slices.ContainsFunc(f.blocks[join].nodes[at:], func(ni int32) bool { return f.needs(arm, &f.nodes[ni]) }) {
		return true
	}
	for _, s := range f.blocks[join].succs {
		if f.blocks[s].idom == join && slices.ContainsFunc(f.blocks[s].nodes, func(ni int32) bool { return f.needs(arm, &f.nodes[ni]) }) {
			return true
		}
	}
	return false
}

// needs says whether a node reads what an arm writes.
func (f *hfn) needs(arm int, n *node) bool {
	return slices.ContainsFunc(f.blocks[arm].nodes, func(ai int32) bool {
		return slices.ContainsFunc(f.nodes[ai].dst, func(v value) bool { return v >= 0 && n.reads(v) > 0 })
	})
}
