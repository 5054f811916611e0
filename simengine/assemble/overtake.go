package assemble

import (
	"slices"

	"github.com/warptune/warptune/simengine/ir"
)

// overtakes makes y x itself, where y is computed by the first of some nodes, copied to x
// after the last and read nowhere else, of uses in all: what reads the value that x had
// until then goes before the computation of y, with what it needs of the nodes after it.
// ptxas does so: of align_pairs (deploy/calibrate/validation/fifth) it first reads a
// column's old value and then computes the new one in its register. It says whether it did.
func (f *hfn) overtakes(nodes []int32, x, y value, uses int32) bool {
	d, between := nodes[0], nodes[1:]
	readers, early := int32(1), make([]bool, len(between)) // the copy reads y
	for i, ni := range between {
		n := &f.nodes[ni]
		if slices.Contains(n.dst, x) {
			return false
		}
		readers += n.reads(y)
		early[i] = n.reads(x) > 0
	}
	if readers != uses || !f.before(between, early, y) {
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
			f.nodes[ni].rename(y, x)
		}
	}
	f.nodes[d].dst = []value{x}
	copy(nodes, moved)
	return true
}

// definition returns the index of the last of some nodes that computes y, -1 where there
// is none that may move.
func (f *hfn) definition(nodes []int32, y value) int {
	for d := len(nodes) - 1; d >= 0; d-- {
		n := &f.nodes[nodes[d]]
		if !slices.Contains(n.dst, y) {
			continue
		}
		if len(n.dst) != 1 || !f.movable(n) {
			return -1
		}
		return d
	}
	return -1
}

// movable says that a node may be elsewhere in its block, where it reads the same.
func (f *hfn) movable(n *node) bool {
	return !n.hasEffect() && n.guard == noValue && n.op != ir.Ld && n.op != ir.Ldu && n.op != ir.Nop && n.mod&(ir.ModCarryIn|ir.ModCarryOut) == 0
}

// before adds to the nodes that are to go before others what they need of these, and
// says whether they may: they are movable, write values that nothing else does, and need
// no y.
func (f *hfn) before(nodes []int32, early []bool, y value) bool {
	for i := len(nodes) - 1; i >= 0; i-- {
		if !early[i] {
			continue
		}
		n := &f.nodes[nodes[i]]
		if !f.movable(n) || n.reads(y) > 0 {
			return false
		}
		for _, v := range n.dst {
			if v < 0 || f.vals[v].defs != 1 {
				return false
			}
		}
		for j := range i {
			for _, v := range f.nodes[nodes[j]].dst {
				early[j] = early[j] || v >= 0 && n.reads(v) > 0
			}
		}
	}
	return true
}
