package opt

import (
	"slices"

	"github.com/warptune/warptune/simengine/assemble/hir"
	"github.com/warptune/warptune/simengine/assemble/vreg"
	"github.com/warptune/warptune/simengine/ir"
)

// Vector accesses of 16-bit values in shared memory.
//
// Loads are joined if all readers take a half of a register as an operand: LDS.64 for four
// ld.shared.u16 whose readers are HFMA2 or HADD2.F32. For integers, and shifts that widen bfloats,
// ptxas leaves LDS.U16 alone. Stores are always joined, after one PRMT for each pair.

// readWhole reports whether some reader of v does not take a half of a register.
func (j *vectoriser) readWhole(v vreg.Value) bool {
	if j.whole == nil {
		j.whole = readWholeWords(j.f)
	}
	return j.whole[v]
}

// readWholeWords returns which values have such a reader. It goes backwards, since a pair of one
// half is read as its readers read it.
func readWholeWords(f *hir.Func) []bool {
	whole := make([]bool, len(f.Values))
	for _, b := range slices.Backward(f.Order) {
		for _, ni := range slices.Backward(f.Blocks[b].Nodes) {
			n := &f.Nodes[ni]
			inPlace := n.ReadsHalves()
			if n.RepeatsHalf() && n.Guard == vreg.None && f.Values[n.Dst[0]].Defs == 1 {
				inPlace = !whole[n.Dst[0]]
			}
			for i := range n.Src {
				if o := &n.Src[i]; o.Kind == ir.OperandAddr && o.Reg != ir.NoReg || o.Kind == ir.OperandReg && !inPlace {
					whole[o.Reg] = true
				}
			}
		}
	}
	return whole
}

// pairUp turns joined accesses of halves into accesses of words, with moves between halves and
// words after loads and before stores. It returns the nodes of the block.
func (j *vectoriser) pairUp() []int32 {
	moves := map[int][]int32{} // by index of the access in the block
	for _, at := range j.paired {
		moves[at] = j.words(&j.f.Nodes[j.nodes[at]])
	}
	out := make([]int32, 0, len(j.nodes)+2*len(j.paired))
	for at, ni := range j.nodes {
		if j.f.Nodes[ni].Op == ir.St {
			out = append(append(out, moves[at]...), ni)
		} else {
			out = append(append(out, ni), moves[at]...)
		}
	}
	return out
}

// words turns one access of halves into one of words, and returns the moves.
func (j *vectoriser) words(n *hir.Node) (moves []int32) {
	f := j.f
	dst, src := n.Dst, n.Src[1:]
	n.Dst, n.Src = nil, n.Src[:1:1]
	n.Type, n.Vec = ir.B32, n.Vec/2
	next := int32(len(f.Nodes))
	var made []hir.Node
	for k := range int(n.Vec) {
		w := f.NewValue(1, vreg.General)
		word := ir.Operand{Kind: ir.OperandReg, Reg: ir.Reg(w), Var: -1, Param: -1}
		m := hir.Node{Op: ir.Mov, Type: ir.B32, Vec: 1, PC: n.PC, Block: n.Block, Guard: vreg.None}
		if n.Op == ir.Ld {
			n.Dst = append(n.Dst, w)
			m.Dst, m.Src = dst[2*k:2*k+2], []ir.Operand{word}
		} else {
			n.Src = append(n.Src, word)
			m.Dst, m.Src = []vreg.Value{w}, slices.Clone(src[2*k:2*k+2])
		}
		made = append(made, m)
		moves = append(moves, next+int32(k))
	}
	f.Nodes = append(f.Nodes, made...)
	return moves
}
