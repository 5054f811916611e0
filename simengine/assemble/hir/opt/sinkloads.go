package opt

import (
	"slices"

	"github.com/warptune/warptune/simengine/assemble/hir"
	"github.com/warptune/warptune/simengine/assemble/vreg"
	"github.com/warptune/warptune/simengine/ir"
)

// Loads of the next tile that are taken under a condition, before a long computation that does not need them,
// are not predicated where they are many, and then the real assembler moves them, branch and all, behind the
// computation: to the barrier or the store that waits for them, whose wait is then in full view. Of 21 kernels
// of two batches whose next tile's loads it did not predicate (gemm_ahead and splitk_sgemm,
// deploy/calibrate/validation eighth and seventeenth) 20 have them behind all but 2 to 16 of 512 to 2,048
// products, one before them.

// sinkLoads moves the branch at the end of block b behind what of the join does not need its arm: that is then
// at the end of b.
func sinkLoads(f *hir.Func, b int) bool {
	br := f.CondBranch(b)
	if br == nil {
		return false
	}
	arm, join := f.Blocks[b].Succs[0], f.Blocks[b].Succs[1]
	if !f.OnePredecessor(arm) || !slices.Equal(f.Blocks[arm].Succs, []int{join}) || join == 0 || join == b || f.Blocks[b].Holds != 0 || !joinsOnly(f, join, b, arm) || f.OnlyExits(join) {
		return false
	}
	if armCost(f, arm) <= ifConvertLimit || !loadsOnly(f, arm) {
		return false
	}
	at := independent(f, arm, join)
	if at <= len(f.Blocks[arm].Nodes) || !readAfter(f, arm, join, at) {
		return false
	}
	hb, jb := &f.Blocks[b], &f.Blocks[join]
	last := len(hb.Nodes) - 1
	branch := hb.Nodes[last]
	hb.Nodes = append(append(hb.Nodes[:last], jb.Nodes[:at]...), branch)
	jb.Nodes, hb.Holds = jb.Nodes[at:], join
	return true
}

// joinsOnly says whether two blocks alone lead to a third.
func joinsOnly(f *hir.Func, join, b, arm int) bool {
	p := f.Blocks[join].Preds
	return len(p) == 2 && slices.Contains(p, b) && slices.Contains(p, arm)
}

// loadsOnly says whether a block loads from global memory and else only computes.
func loadsOnly(f *hir.Func, b int) bool {
	loads := 0
	for _, ni := range f.Blocks[b].Nodes {
		switch n := &f.Nodes[ni]; {
		case n.Op == ir.Ld && n.Space == ir.Global:
			loads++
		case n.Op == ir.Ld && n.Space != ir.ParamSpace && n.Space != ir.Const, n.Op == ir.St, n.Op == ir.Prefetch:
			return false
		}
	}
	return loads > 0
}

// independent is how many of a block's first nodes neither need what an arm computes nor change what it needs, nor
// order memory.
func independent(f *hir.Func, arm, join int) int {
	nodes := f.Blocks[join].Nodes
	for at, ni := range nodes {
		n := &f.Nodes[ni]
		switch n.Op {
		case ir.Bar, ir.BarRed, ir.BarWarp, ir.Membar, ir.Atom, ir.Red, ir.CpAsync:
			return at
		case ir.St:
			if n.Space != ir.Shared {
				return at
			}
		}
		if n.IsTerminator() || touches(f, arm, n) {
			return at
		}
	}
	return len(nodes)
}

// touches says whether a node reads or writes what an arm writes, or writes what it reads.
func touches(f *hir.Func, arm int, n *hir.Node) bool {
	for _, ai := range f.Blocks[arm].Nodes {
		a := &f.Nodes[ai]
		for _, v := range a.Dst {
			if v >= 0 && (n.Reads(v) > 0 || slices.Contains(n.Dst, v)) {
				return true
			}
		}
		for _, v := range n.Dst {
			if v >= 0 && a.Reads(v) > 0 {
				return true
			}
		}
	}
	return false
}

// readAfter says whether what an arm computes is read in its join from a node on, or in a block that follows it
// and is not the loop's first.
func readAfter(f *hir.Func, arm, join, at int) bool {
	if slices.ContainsFunc(f.Blocks[join].Nodes[at:], func(ni int32) bool { return needs(f, arm, &f.Nodes[ni]) }) {
		return true
	}
	for _, s := range f.Blocks[join].Succs {
		if f.Blocks[s].IDom == join && slices.ContainsFunc(f.Blocks[s].Nodes, func(ni int32) bool { return needs(f, arm, &f.Nodes[ni]) }) {
			return true
		}
	}
	return false
}

// needs says whether a node reads what an arm writes.
func needs(f *hir.Func, arm int, n *hir.Node) bool {
	return slices.ContainsFunc(f.Blocks[arm].Nodes, func(ai int32) bool {
		return slices.ContainsFunc(f.Nodes[ai].Dst, func(v vreg.Value) bool { return v >= 0 && n.Reads(v) > 0 })
	})
}
