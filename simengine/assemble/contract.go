package assemble

import "github.com/warptune/warptune/simengine/ir"

// contract returns the operands of the multiply-add that a sum of src makes with a
// product in it, nil when it makes none: the PTX ISA lets the assembler fuse
// additions and multiplications that name no rounding, and the real one does.
func (s *selector) contract(n *node, src []ir.Operand) []ir.Operand {
	if n.op != ir.Add && n.op != ir.Sub || isInt(n.typ) || !s.fusible(n) {
		return nil
	}
	for _, many := range []bool{false, true} {
		for i := range src {
			if many && (src[i].Kind != ir.OperandReg || !s.dissolved[src[i].Reg]) {
				continue
			}
			if d := s.fold(src[i], many); d != nil && s.isProduct(d, n.typ) {
				return []ir.Operand{d.src[0], d.src[1], src[1-i]}
			}
		}
	}
	return nil
}

// isProduct says that a node is a product that a sum of that type may be fused with.
func (s *selector) isProduct(d *node, t ir.Type) bool {
	return d != nil && d.op == ir.Mul && d.typ == t && s.fusible(d)
}

// dissolve finds the products that all their readers compute as a part of themselves,
// sums with no other product to take: no multiplication is left (sm_90 machine code of
// deploy/calibrate/datasets/h200-neural-networks rotate_image, where half the width is taken from one
// number and added to another, in several blocks).
func (s *selector) dissolve() {
	s.dissolved = make([]bool, len(s.f.vals))
	taken := make([]int32, len(s.f.vals))
	for _, b := range s.f.order {
		for _, ni := range s.f.blocks[b].nodes {
			n := &s.f.nodes[ni]
			if n.op != ir.Add && n.op != ir.Sub || isInt(n.typ) || !s.fusible(n) || len(n.src) != 2 {
				continue
			}
			one, other := s.product(n.src[0], n.typ), s.product(n.src[1], n.typ)
			if one == noValue {
				one, other = other, one
			}
			if one != noValue && other == noValue && s.dissolves(s.f.defOf(one), b) {
				taken[one]++
			}
		}
	}
	for v, n := range taken {
		s.dissolved[v] = n > 1 && n == s.uses[v]
	}
}

// dissolves says that a product may be computed by readers in block b: in a deeper loop
// not with a double that no instruction has room for (great_circle of h200-loops-and-doubles,
// which turns degrees into radians before its loop, would execute 1 % more instructions
// than it does, of which 8 % are too many).
func (s *selector) dissolves(n *node, b int) bool {
	if s.f.blocks[s.f.carrier(n)].depth >= s.f.blocks[b].depth {
		return true
	}
	for i := range n.src {
		if o := &n.src[i]; n.typ == ir.F64 && o.Kind == ir.OperandImm && uint32(o.Imm) != 0 {
			return false
		}
	}
	return true
}

// product is the value of an operand that is a product for a sum of that type.
func (s *selector) product(o ir.Operand, t ir.Type) value {
	if o.Kind != ir.OperandReg || o.Reg == ir.NoReg || !s.isProduct(s.f.defOf(value(o.Reg)), t) {
		return noValue
	}
	return value(o.Reg)
}

// fusible says that an operation may be fused with another.
func (s *selector) fusible(n *node) bool {
	return n.pc >= 0 && s.f.k.Instrs[n.pc].Round == ir.RoundNone && n.mod&ir.ModSat == 0
}
