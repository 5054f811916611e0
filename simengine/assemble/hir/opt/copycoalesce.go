package opt

import (
	"slices"

	"github.com/warptune/warptune/simengine/assemble/hir"
	"github.com/warptune/warptune/simengine/assemble/vreg"
	"github.com/warptune/warptune/simengine/ir"
)

// coalesceCopy makes y x itself, where y is computed by the first of some nodes, copied to x
// after the last and read nowhere else, of uses in all: what reads the value that x had
// until then goes before the computation of y, with what it needs of the nodes after it.
// ptxas does so: of align_pairs (deploy/calibrate/validation/fifth) it first reads a
// column's old value and then computes the new one in its register. It says whether it did.
func coalesceCopy(f *hir.Func, nodes []int32, x, y vreg.Value, uses int32) bool {
	d, between := nodes[0], nodes[1:]
	readers, early := int32(1), make([]bool, len(between)) // the copy reads y
	for i, ni := range between {
		n := &f.Nodes[ni]
		if slices.Contains(n.Dst, x) {
			return false
		}
		readers += n.Reads(y)
		early[i] = n.Reads(x) > 0
	}
	if readers != uses || !before(f, between, early, y) {
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

// definition returns the index of the last of some nodes that computes y, -1 where there
// is none that may move.
func definition(f *hir.Func, nodes []int32, y vreg.Value) int {
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

// movable says that a node may be elsewhere in its block, where it reads the same.
func movable(f *hir.Func, n *hir.Node) bool {
	return !n.HasEffect() && n.Guard == vreg.None && n.Op != ir.Ld && n.Op != ir.Ldu && n.Op != ir.Nop && n.Mod&(ir.ModCarryIn|ir.ModCarryOut) == 0
}

// before adds to the nodes that are to go before others what they need of these, and
// says whether they may: they are movable, write values that nothing else does, and need
// no y.
func before(f *hir.Func, nodes []int32, early []bool, y vreg.Value) bool {
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
