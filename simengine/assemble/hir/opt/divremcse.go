package opt

import (
	"slices"

	"github.com/warptune/warptune/simengine/assemble/hir"
	"github.com/warptune/warptune/simengine/assemble/rules"
	"github.com/warptune/warptune/simengine/assemble/vreg"
	"github.com/warptune/warptune/simengine/ir"
)

// Remainders from quotients: x % y is x - x/y*y where x/y is known. ptxas continues the division
// instead, in as many instructions (kernels: rope_half).

// quotient identifies a division.
type quotient struct {
	typ  ir.Type
	x, y ir.Operand
}

// RemainderFromQuotient computes 32-bit remainders from a quotient of the same operands that
// dominates them.
func RemainderFromQuotient(f *hir.Func) error {
	if !f.Target.Uses(rules.RemainderReuse) {
		return nil
	}
	quotients := map[quotient][]int32{}
	for _, b := range f.Order {
		nodes := f.Blocks[b].Nodes
		for i := 0; i < len(nodes); i++ {
			n := &f.Nodes[nodes[i]]
			d, ok := dividedBy(f, n)
			if !ok {
				continue
			}
			known := quotients[d]
			if n.Op == ir.Div {
				quotients[d] = append(known, nodes[i])
				continue
			}
			at := slices.IndexFunc(known, func(q int32) bool {
				return f.Nodes[q].Guard == vreg.None && f.Dominates(int(f.Nodes[q].Block), b)
			})
			if at >= 0 {
				nodes = slices.Insert(nodes, i, subtractProduct(f, nodes[i], f.Nodes[known[at]].Dst[0]))
				i++
			}
		}
		f.Blocks[b].Nodes = nodes
	}
	f.CountDefs()
	return nil
}

// dividedBy returns the operands of a 32-bit division or remainder; false where it is neither, or
// an operand may change.
func dividedBy(f *hir.Func, n *hir.Node) (d quotient, ok bool) {
	if n.Op != ir.Div && n.Op != ir.Rem || !hir.IsInt(n.Type) || hir.Bits(n.Type) != 32 || f.Values[n.Dst[0]].Defs != 1 {
		return d, false
	}
	for i := range n.Src {
		if o := &n.Src[i]; o.Kind == ir.OperandReg && f.Values[o.Reg].Defs != 1 {
			return d, false
		}
	}
	return quotient{n.Type, n.Src[0], n.Src[1]}, true
}

// subtractProduct turns a remainder into a subtraction and returns the new node that multiplies the
// quotient by the divisor.
func subtractProduct(f *hir.Func, rem int32, quotient vreg.Value) int32 {
	n := f.Nodes[rem]
	reg := func(v vreg.Value) ir.Operand {
		return ir.Operand{Kind: ir.OperandReg, Reg: ir.Reg(v), Var: -1, Param: -1}
	}
	product := f.NewValue(1, vreg.General)
	f.Nodes = append(f.Nodes, hir.Node{Op: ir.Mul, Type: n.Type, PC: n.PC, Block: n.Block, Guard: n.Guard, GuardNot: n.GuardNot, Dst: []vreg.Value{product}, Vec: 1,
		Src: []ir.Operand{reg(quotient), n.Src[1]}})
	f.Nodes[rem].Op, f.Nodes[rem].Src = ir.Sub, []ir.Operand{n.Src[0], reg(product)}
	return int32(len(f.Nodes) - 1)
}
