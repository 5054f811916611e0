package assemble

import "github.com/warptune/warptune/simengine/ir"

// divisor is what a division of 32 bits divides by.
type divisor struct {
	typ ir.Type
	y   ir.Operand
}

// shareReciprocals has integer divisions by what another one before them divides by, too,
// go on from that one's reciprocal and amount of the divisor (sm_90 machine code of
// deploy/calibrate/validation/eighth geglu, whose items divide by the row's length).
func (f *fn) shareReciprocals() error {
	first, reciprocals := map[divisor]int32{}, map[divisor][]ir.Operand{}
	at := map[int32][]int32{} // what goes before a node
	for _, b := range f.order {
		for _, ni := range f.blocks[b].nodes {
			d, ok := f.dividedBy(&f.nodes[ni])
			if !ok || d.y.Kind != ir.OperandReg || f.nodes[ni].guard != noValue {
				continue
			}
			by := divisor{d.typ, d.y}
			e, known := first[by]
			if !known || !f.dominates(int(f.nodes[e].block), b) {
				if !known {
					first[by] = ni
				}
				continue
			}
			shared := reciprocals[by]
			if shared == nil {
				at[e], shared = f.reciprocalOf(e)
				reciprocals[by] = shared
				f.nodes[e].src = append(f.nodes[e].src[:2:2], shared...)
			}
			f.nodes[ni].src = append(f.nodes[ni].src[:2:2], shared...)
		}
	}
	if len(at) == 0 {
		return nil
	}
	for _, b := range f.order {
		var nodes []int32
		for _, ni := range f.blocks[b].nodes {
			nodes = append(append(nodes, at[ni]...), ni)
		}
		f.blocks[b].nodes = nodes
	}
	f.countDefs()
	return nil
}

// reciprocalOf makes the nodes that find the reciprocal of a division's divisor and, of a
// signed one, its amount, and returns them with what they compute.
func (f *fn) reciprocalOf(division int32) (nodes []int32, values []ir.Operand) {
	n := f.nodes[division]
	add := func(op ir.Op, src ir.Operand) ir.Operand {
		v := f.newValue(1, fileGeneral)
		f.nodes = append(f.nodes, node{op: op, typ: n.typ, pc: n.pc, block: n.block, guard: noValue, dst: []value{v}, vec: 1, src: []ir.Operand{src}})
		nodes = append(nodes, int32(len(f.nodes)-1))
		return ir.Operand{Kind: ir.OperandReg, Reg: ir.Reg(v), Var: -1, Param: -1}
	}
	of := n.src[1]
	if signed(n.typ) {
		of = add(ir.Abs, of)
	}
	values = []ir.Operand{add(ir.Rcp, of)}
	if signed(n.typ) {
		values = append(values, of)
	}
	return nodes, values
}
