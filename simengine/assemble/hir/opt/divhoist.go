package opt

import (
	"github.com/warptune/warptune/simengine/assemble/hir"
	"github.com/warptune/warptune/simengine/assemble/vreg"
	"github.com/warptune/warptune/simengine/ir"
)

// Common reciprocals of integer divisions.
//
// A division by a variable begins with the reciprocal of the divisor (Granlund and Montgomery, PLDI
// 1994, do it for constants at compile time). As a node of its own it is common to all divisions by
// that divisor, and value numbering computes it once.
//
// Evidence, kernels: geglu, whose items divide by the row's length.

// ShareReciprocals gives 32-bit integer divisions and remainders operands for what depends on the
// divisor alone: its reciprocal and, if signed, its absolute value.
func ShareReciprocals(f *hir.Func) error {
	split := false
	for _, b := range f.Order {
		var nodes []int32
		for _, ni := range f.Blocks[b].Nodes {
			if n := &f.Nodes[ni]; (n.Op == ir.Div || n.Op == ir.Rem) && hir.IsInt(n.Type) && hir.Bits(n.Type) == 32 {
				nodes = append(nodes, splitDivision(f, ni)...)
				split = true
			}
			nodes = append(nodes, ni)
		}
		f.Blocks[b].Nodes = nodes
	}
	if split {
		f.CountDefs()
	}
	return nil
}

// splitDivision adds these operands to one division and returns the nodes that compute them.
func splitDivision(f *hir.Func, division int32) (nodes []int32) {
	n := f.Nodes[division]
	add := func(op ir.Op, src ir.Operand) ir.Operand {
		v := f.NewValue(1, vreg.General)
		f.Nodes = append(f.Nodes, hir.Node{Op: op, Type: n.Type, PC: n.PC, Block: n.Block, Guard: n.Guard, GuardNot: n.GuardNot, Dst: []vreg.Value{v}, Vec: 1, Src: []ir.Operand{src}})
		nodes = append(nodes, int32(len(f.Nodes)-1))
		return ir.Operand{Kind: ir.OperandReg, Reg: ir.Reg(v), Var: -1, Param: -1}
	}
	src, of := n.Src[:2:2], n.Src[1]
	if hir.Signed(n.Type) {
		of = add(ir.Abs, of)
	}
	src = append(src, add(ir.Rcp, of))
	if hir.Signed(n.Type) {
		src = append(src, of)
	}
	f.Nodes[division].Src = src
	return nodes
}
