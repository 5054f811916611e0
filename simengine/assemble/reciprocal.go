package assemble

import "github.com/warptune/warptune/simengine/ir"

// splitDivisions has integer divisions of 32 bits begin with what depends on the divisor
// alone, its reciprocal and, of signed numbers, its amount, so that those by the same one
// share it (sm_90 machine code of deploy/calibrate/validation/eighth geglu, whose items
// divide by the row's length).
func (f *hfn) splitDivisions() error {
	split := false
	for _, b := range f.order {
		var nodes []int32
		for _, ni := range f.blocks[b].nodes {
			if n := &f.nodes[ni]; (n.op == ir.Div || n.op == ir.Rem) && isInt(n.typ) && bits(n.typ) == 32 {
				nodes = append(nodes, f.splitDivision(ni)...)
				split = true
			}
			nodes = append(nodes, ni)
		}
		f.blocks[b].nodes = nodes
	}
	if split {
		f.countDefs()
	}
	return nil
}

// splitDivision gives a division the reciprocal and the amount of its divisor, and returns
// the nodes that compute them.
func (f *hfn) splitDivision(division int32) (nodes []int32) {
	n := f.nodes[division]
	add := func(op ir.Op, src ir.Operand) ir.Operand {
		v := f.newValue(1, fileGeneral)
		f.nodes = append(f.nodes, node{op: op, typ: n.typ, pc: n.pc, block: n.block, guard: n.guard, gnot: n.gnot, dst: []value{v}, vec: 1, src: []ir.Operand{src}})
		nodes = append(nodes, int32(len(f.nodes)-1))
		return ir.Operand{Kind: ir.OperandReg, Reg: ir.Reg(v), Var: -1, Param: -1}
	}
	src, of := n.src[:2:2], n.src[1]
	if signed(n.typ) {
		of = add(ir.Abs, of)
	}
	src = append(src, add(ir.Rcp, of))
	if signed(n.typ) {
		src = append(src, of)
	}
	f.nodes[division].src = src
	return nodes
}
