package opt

import (
	"slices"

	"github.com/warptune/warptune/simengine/assemble/hir"
	"github.com/warptune/warptune/simengine/assemble/vreg"
	"github.com/warptune/warptune/simengine/ir"
)

// Guarded loads of the next tile.
//
// The loads of the next tile may be under a condition, too many to predicate, and stand before a long computation
// that does not need them. In that case ptxas moves them, with their branch, behind the computation: right before
// the barrier or the store that waits for them.
//
//	if (more) load next tile           multiply-add this tile
//	multiply-add this tile     becomes if (more) load next tile
//	barrier                            barrier
//
// Evidence, kernels: of 21 of gemm_ahead and splitk_sgemm, 20 have the loads behind all but 2 to 16
// of 512 to 2,048 multiply-adds, one before them.

// sinkLoads moves to the end of block b what stands behind its branch and does not need the arm. It
// reports whether it did.
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

// joinsOnly reports whether blocks b and arm are the only ones before join.
func joinsOnly(f *hir.Func, join, b, arm int) bool {
	p := f.Blocks[join].Preds
	return len(p) == 2 && slices.Contains(p, b) && slices.Contains(p, arm)
}

// loadsOnly reports whether a block loads from global memory and otherwise only computes.
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

// independent is the number of first nodes of join that neither depend on arm, nor change what it
// reads, nor order memory.
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
		if n.IsTerminator() || dependsOn(f, arm, n) {
			return at
		}
	}
	return len(nodes)
}

// dependsOn reports whether a node and an arm must keep their order.
func dependsOn(f *hir.Func, arm int, n *hir.Node) bool {
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

// readAfter reports whether a result of an arm is read in its join from node at on, or in a block
// that only the join leads to.
func readAfter(f *hir.Func, arm, join, at int) bool {
	if slices.ContainsFunc(f.Blocks[join].Nodes[at:], func(ni int32) bool { return readsResult(f, arm, &f.Nodes[ni]) }) {
		return true
	}
	for _, s := range f.Blocks[join].Succs {
		if f.Blocks[s].IDom == join && slices.ContainsFunc(f.Blocks[s].Nodes, func(ni int32) bool { return readsResult(f, arm, &f.Nodes[ni]) }) {
			return true
		}
	}
	return false
}

// readsResult reports whether a node reads a result of an arm.
func readsResult(f *hir.Func, arm int, n *hir.Node) bool {
	return slices.ContainsFunc(f.Blocks[arm].Nodes, func(ai int32) bool {
		return slices.ContainsFunc(f.Nodes[ai].Dst, func(v vreg.Value) bool { return v >= 0 && n.Reads(v) > 0 })
	})
}
