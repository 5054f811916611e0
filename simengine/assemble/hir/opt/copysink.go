package opt

import (
	"slices"

	"github.com/warptune/warptune/simengine/assemble/hir"
	"github.com/warptune/warptune/simengine/assemble/vreg"
	"github.com/warptune/warptune/simengine/ir"
)

// Copies that end a loop: "y = f(...); ...; x = y" becomes "...; x = f(...)".

// renames makes the MMA that computes y write x, if a copy of y to x follows the last of nodes,
// nothing in between reads or writes x and nothing else reads y: the accumulators of a loop. It
// reports whether it did.
func renames(f *hir.Func, nodes []int32, x, y vreg.Value, uses int32) bool {
	if uses != 1 || f.Values[y].Defs != 1 || f.Values[y].Words != f.Values[x].Words {
		return false
	}
	for i := len(nodes) - 1; i >= 0; i-- {
		n := &f.Nodes[nodes[i]]
		if k := slices.Index(n.Dst, y); k >= 0 {
			if n.Op != ir.Mma || n.Guard != vreg.None || slices.Contains(n.Dst, x) {
				return false
			}
			n.Dst = slices.Clone(n.Dst)
			n.Dst[k] = x
			return true
		}
		if n.Reads(x) > 0 || slices.Contains(n.Dst, x) {
			return false
		}
	}
	return false
}

// SinkCopies removes copies to variables by moving the definition down to the copy, where nothing
// else reads the value.
func SinkCopies(f *hir.Func) error {
	uses := f.CountUses()
	for _, b := range f.Order {
		nodes := f.Blocks[b].Nodes
		for i := 0; i < len(nodes); i++ {
			c := &f.Nodes[nodes[i]]
			if c.Op != ir.Mov || len(c.Src) != 1 || len(c.Dst) != 1 || c.Dst[0] < 0 || c.Src[0].Kind != ir.OperandReg || c.Src[0].Not || c.Guard != vreg.None || f.Values[c.Dst[0]].Defs < 2 {
				continue
			}
			x, y := c.Dst[0], vreg.Value(c.Src[0].Reg)
			if renames(f, nodes[:i], x, y, uses[y]) {
				*c = hir.Node{Op: ir.Nop, PC: c.PC, Block: c.Block, Guard: vreg.None}
				continue
			}
			if uses[y] != 1 || f.Values[y].Defs != 1 || f.Values[y].Words != f.Values[x].Words || f.Values[y].File != f.Values[x].File {
				continue
			}
			j := definitionOf(f, nodes[:i], y)
			if j < 0 || !sinkable(f, nodes[j:i]) {
				continue
			}
			d := nodes[j]
			copy(nodes[j:], nodes[j+1:i+1])
			f.Nodes[d].Dst = []vreg.Value{x}
			nodes[i] = d
			*c = hir.Node{Op: ir.Nop, PC: c.PC, Block: c.Block, Guard: vreg.None}
		}
	}
	f.CountDefs()
	return nil
}

// sinkable reports whether the first of nodes may move behind the others: none writes what it
// reads.
func sinkable(f *hir.Func, nodes []int32) bool {
	d := &f.Nodes[nodes[0]]
	for _, ni := range nodes[1:] {
		for _, w := range f.Nodes[ni].Dst {
			if w >= 0 && d.Reads(w) > 0 {
				return false
			}
		}
	}
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
	return !n.HasEffect() && n.Guard == vreg.None && n.Op != ir.Ld && n.Op != ir.Ldu && !n.Op.IsTexture() && n.Op != ir.Nop && n.Mod&(ir.ModCarryIn|ir.ModCarryOut) == 0
}
