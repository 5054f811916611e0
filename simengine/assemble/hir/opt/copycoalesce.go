package opt

import (
	"slices"

	"github.com/warptune/warptune/simengine/assemble/hir"
	"github.com/warptune/warptune/simengine/assemble/vreg"
	"github.com/warptune/warptune/simengine/ir"
)

// Copies at the end of a loop.
//
//	y = f(x)                      g = h(x)
//	g = h(x)        becomes       x = f(x)
//	x = y
//
// The readers of the old x move before the definition of y, which then takes x's register.
//
// Evidence, kernels: align_pairs, 15 of 175 instructions of a step; mandelbrot, one of 13.

// coalesceCopy replaces y by x. nodes[0] computes y, and a copy of y to x follows the last of
// nodes; uses is the number of all reads of y. It reports whether it did: whether all readers of y
// are among nodes and the readers of x, with what they depend on, can move first.
func coalesceCopy(f *hir.Func, nodes []int32, x, y vreg.Value, uses int32) bool {
	d, between := nodes[0], nodes[1:]
	readers, early := int32(1), make([]bool, len(between)) // the copy is a reader
	for i, ni := range between {
		n := &f.Nodes[ni]
		if slices.Contains(n.Dst, x) {
			return false
		}
		readers += n.Reads(y)
		early[i] = n.Reads(x) > 0
	}
	if readers != uses || !closeOver(f, between, early, y) {
		return false
	}
	moved := make([]int32, 0, len(nodes))
	for i, ni := range between {
		if early[i] {
			moved = append(moved, ni)
		}
	}
	moved = append(moved, d)
	for i, ni := range between {
		if !early[i] {
			moved = append(moved, ni)
			f.Nodes[ni].Rename(y, x)
		}
	}
	f.Nodes[d].Dst = []vreg.Value{x}
	copy(nodes, moved)
	return true
}

// definitionOf returns the index of the last of nodes that computes y, -1 where there is none that
// can move.
func definitionOf(f *hir.Func, nodes []int32, y vreg.Value) int {
	for d := len(nodes) - 1; d >= 0; d-- {
		n := &f.Nodes[nodes[d]]
		if !slices.Contains(n.Dst, y) {
			continue
		}
		if len(n.Dst) != 1 || !movable(f, n) {
			return -1
		}
		return d
	}
	return -1
}

// movable reports whether a node may stand elsewhere in its block, apart from what it reads and
// writes.
func movable(f *hir.Func, n *hir.Node) bool {
	return !n.HasEffect() && n.Guard == vreg.None && n.Op != ir.Ld && n.Op != ir.Ldu && n.Op != ir.Nop && n.Mod&(ir.ModCarryIn|ir.ModCarryOut) == 0
}

// closeOver adds to the nodes that move early what they depend on, and reports whether all of these
// can move: they are movable, write values without other definitions and do not read y.
func closeOver(f *hir.Func, nodes []int32, early []bool, y vreg.Value) bool {
	for i := len(nodes) - 1; i >= 0; i-- {
		if !early[i] {
			continue
		}
		n := &f.Nodes[nodes[i]]
		if !movable(f, n) || n.Reads(y) > 0 {
			return false
		}
		for _, v := range n.Dst {
			if v < 0 || f.Values[v].Defs != 1 {
				return false
			}
		}
		for j := range i {
			for _, v := range f.Nodes[nodes[j]].Dst {
				early[j] = early[j] || v >= 0 && n.Reads(v) > 0
			}
		}
	}
	return true
}
