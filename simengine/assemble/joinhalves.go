package assemble

import (
	"slices"

	"github.com/warptune/warptune/simengine/ir"
)

// Loads of halves from shared memory join where all that read them take a half of a word
// in place (LDS.64 for four ld.shared.u16 whose readers are HFMA2 or HADD2.F32; where they
// are of integers, or shifts that make numbers of bfloats, ptxas leaves LDS.U16 as they are).
// Stores join whatever they store, after a PRMT for each pair.

// readWhole says that some reader of a half does not take it in place.
func (j *joiner) readWhole(v value) bool {
	if j.whole == nil {
		j.whole = j.f.readWhole()
	}
	return j.whole[v]
}

// readWhole returns which values have such a reader. It looks backwards, as of pairs of
// one half their readers tell.
func (f *hfn) readWhole() []bool {
	whole := make([]bool, len(f.vals))
	for _, b := range slices.Backward(f.order) {
		for _, ni := range slices.Backward(f.blocks[b].nodes) {
			n := &f.nodes[ni]
			inPlace := n.takesHalves()
			if n.repeatsHalf() && n.guard == noValue && f.vals[n.dst[0]].defs == 1 {
				inPlace = !whole[n.dst[0]]
			}
			for i := range n.src {
				if o := &n.src[i]; o.Kind == ir.OperandAddr && o.Reg != ir.NoReg || o.Kind == ir.OperandReg && !inPlace {
					whole[o.Reg] = true
				}
			}
		}
	}
	return whole
}

// pairUp has joined accesses of halves be of words, which loads are followed by moves out
// of, and stores preceded by moves into. It returns the nodes of the block.
func (j *joiner) pairUp() []int32 {
	moves := map[int][]int32{} // by the place of the access
	for _, at := range j.paired {
		moves[at] = j.words(&j.f.nodes[j.nodes[at]])
	}
	out := make([]int32, 0, len(j.nodes)+2*len(j.paired))
	for at, ni := range j.nodes {
		if j.f.nodes[ni].op == ir.St {
			out = append(append(out, moves[at]...), ni)
		} else {
			out = append(append(out, ni), moves[at]...)
		}
	}
	return out
}

// words has an access of halves be one of words, and returns the moves between them.
func (j *joiner) words(n *node) (moves []int32) {
	f := j.f
	dst, src := n.dst, n.src[1:]
	n.dst, n.src = nil, n.src[:1:1]
	n.typ, n.vec = ir.B32, n.vec/2
	next := int32(len(f.nodes))
	var made []node
	for k := range int(n.vec) {
		w := f.newValue(1, fileGeneral)
		word := ir.Operand{Kind: ir.OperandReg, Reg: ir.Reg(w), Var: -1, Param: -1}
		m := node{op: ir.Mov, typ: ir.B32, vec: 1, pc: n.pc, block: n.block, guard: noValue}
		if n.op == ir.Ld {
			n.dst = append(n.dst, w)
			m.dst, m.src = dst[2*k:2*k+2], []ir.Operand{word}
		} else {
			n.src = append(n.src, word)
			m.dst, m.src = []value{w}, slices.Clone(src[2*k:2*k+2])
		}
		made = append(made, m)
		moves = append(moves, next+int32(k))
	}
	f.nodes = append(f.nodes, made...)
	return moves
}
