package opt

import (
	"github.com/warptune/warptune/simengine/assemble/hir"
	"github.com/warptune/warptune/simengine/assemble/vreg"
	"github.com/warptune/warptune/simengine/ir"
)

// Predicates that pass through words, as compilers write them around inline PTX, and constant ones:
//
//	selp.u32 %r1, 1, 0, %p1; setp.ne.u32 %p2, %r1, 0      %p2 is %p1
//	mov.pred %p1, -1; @%p1 ld ...                          the load has no guard

// FoldPredicates makes comparisons of chosen constants copies of what chose them, and removes constant
// guards.
func FoldPredicates(f *hir.Func) error {
	if !f.Target.Specific {
		return nil
	}
	for _, b := range f.Order {
		for _, ni := range f.Blocks[b].Nodes {
			foldSetp(f, &f.Nodes[ni])
		}
	}
	if err := FoldGuards(f); err != nil {
		return err
	}
	return PropagateCopies(f)
}

// FoldGuards removes constant guards, and the nodes that they forbid.
func FoldGuards(f *hir.Func) error {
	if !f.Target.Specific {
		return nil
	}
	for _, b := range f.Order {
		hb := &f.Blocks[b]
		kept := hb.Nodes[:0]
		for _, ni := range hb.Nodes {
			n := &f.Nodes[ni]
			if g, ok := constantGuard(f, n); ok && !n.IsTerminator() {
				if !g {
					continue
				}
				n.Guard, n.GuardNot, n.Else = vreg.None, false, nil
			}
			kept = append(kept, ni)
		}
		hb.Nodes = kept
	}
	f.CountDefs()
	return nil
}

// constantGuard returns the value of a node's guard, if it is a constant.
func constantGuard(f *hir.Func, n *hir.Node) (value, ok bool) {
	if n.Guard == vreg.None {
		return false, false
	}
	d := f.DefOf(n.Guard)
	if d == nil || d.Guard != vreg.None || !hir.SetsConstant(d) {
		return false, false
	}
	return (d.Src[0].Imm != 0) != n.GuardNot, true
}

// foldSetp turns a comparison of a selection between two constants with a constant into a copy of the
// predicate that selects, or of its negation, and one of two constants into a constant.
func foldSetp(f *hir.Func, n *hir.Node) {
	if n.Op != ir.Setp || len(n.Dst) != 1 || len(n.Src) != 2 || n.Guard != vreg.None || !hir.IsInt(n.Type) || n.Src[1].Kind != ir.OperandImm {
		return
	}
	x := n.Src[0]
	if x.Kind == ir.OperandImm {
		if r, ok := equal(n, x.Imm, n.Src[1].Imm); ok {
			n.Op, n.Type = ir.Mov, ir.Pred
			n.Src = []ir.Operand{{Kind: ir.OperandImm, Imm: bit(r), Reg: ir.NoReg, Var: -1, Param: -1}}
		}
		return
	}
	d := f.DefOf(vreg.Value(x.Reg))
	if x.Kind != ir.OperandReg || d == nil || d.Op != ir.Selp || d.Guard != vreg.None || d.Src[0].Kind != ir.OperandImm || d.Src[1].Kind != ir.OperandImm || d.Src[2].Kind != ir.OperandReg || f.Values[d.Src[2].Reg].Defs != 1 {
		return
	}
	yes, ok := equal(n, d.Src[0].Imm, n.Src[1].Imm)
	no, ok2 := equal(n, d.Src[1].Imm, n.Src[1].Imm)
	if !ok || !ok2 || yes == no {
		return
	}
	p := d.Src[2]
	n.Type = ir.Pred
	if yes != p.Not {
		n.Op = ir.Mov
		p.Not = false
	} else {
		n.Op = ir.Not
		p.Not = false
	}
	n.Src = []ir.Operand{p}
}

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// equal compares two constants as a comparison for equality does, by the bits of its type; false in ok for
// other comparisons.
func equal(n *hir.Node, x, y uint64) (result, ok bool) {
	same := (x^y)<<(64-hir.Bits(n.Type)) == 0
	switch n.Cmp {
	case ir.CmpEQ:
		return same, true
	case ir.CmpNE:
		return !same, true
	}
	return false, false
}
