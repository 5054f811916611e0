package assemble

import (
	"slices"

	"github.com/warptune/warptune/simengine/ir"
)

// divided is what a division divides by what.
type divided struct {
	typ  ir.Type
	x, y ir.Operand
}

// shareDivisions has remainders of 32 bits whose quotient is there begin with it: x % y is
// x - x / y * y. The real assembler goes on from where the division nearly had it, in as
// many instructions (rope_half's machine code, deploy/calibrate/validation/sixth).
func (f *hfn) shareDivisions() error {
	quotients := map[divided][]int32{}
	for _, b := range f.order {
		nodes := f.blocks[b].nodes
		for i := 0; i < len(nodes); i++ {
			n := &f.nodes[nodes[i]]
			d, ok := f.dividedBy(n)
			if !ok {
				continue
			}
			known := quotients[d]
			if n.op == ir.Div {
				quotients[d] = append(known, nodes[i])
				continue
			}
			at := slices.IndexFunc(known, func(q int32) bool {
				return f.nodes[q].guard == noValue && f.dominates(int(f.nodes[q].block), b)
			})
			if at >= 0 {
				nodes = slices.Insert(nodes, i, f.subtractProduct(nodes[i], f.nodes[known[at]].dst[0]))
				i++
			}
		}
		f.blocks[b].nodes = nodes
	}
	f.countDefs()
	return nil
}

// dividedBy returns what a division or remainder of 32 bits is of; false where it is none,
// or of what changes.
func (f *hfn) dividedBy(n *node) (d divided, ok bool) {
	if n.op != ir.Div && n.op != ir.Rem || !isInt(n.typ) || bits(n.typ) != 32 || f.vals[n.dst[0]].defs != 1 {
		return d, false
	}
	for i := range n.src {
		if o := &n.src[i]; o.Kind == ir.OperandReg && f.vals[o.Reg].defs != 1 {
			return d, false
		}
	}
	return divided{n.typ, n.src[0], n.src[1]}, true
}

// subtractProduct makes a remainder a difference, and returns the new node that multiplies
// the quotient with the divisor for it.
func (f *hfn) subtractProduct(rem int32, quotient value) int32 {
	n := f.nodes[rem]
	reg := func(v value) ir.Operand {
		return ir.Operand{Kind: ir.OperandReg, Reg: ir.Reg(v), Var: -1, Param: -1}
	}
	product := f.newValue(1, fileGeneral)
	f.nodes = append(f.nodes, node{op: ir.Mul, typ: n.typ, pc: n.pc, block: n.block, guard: n.guard, gnot: n.gnot, dst: []value{product}, vec: 1,
		src: []ir.Operand{reg(quotient), n.src[1]}})
	f.nodes[rem].op, f.nodes[rem].src = ir.Sub, []ir.Operand{n.src[0], reg(product)}
	return int32(len(f.nodes) - 1)
}
