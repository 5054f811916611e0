package isel

import (
	"github.com/warptune/warptune/simengine/assemble/hir"
	"github.com/warptune/warptune/simengine/assemble/vreg"
	"github.com/warptune/warptune/simengine/ir"
)

// contract returns the operands of the multiply-add that a sum of src makes with a
// multiplyOf in it, nil when it makes none: the PTX ISA lets the assembler fuse
// additions and multiplications that name no rounding, and the real one does.
func (s *selector) contract(n *hir.Node, src []ir.Operand) []ir.Operand {
	if n.Op != ir.Add && n.Op != ir.Sub || hir.IsInt(n.Type) || !s.fusible(n) {
		return nil
	}
	for _, many := range []bool{false, true} {
		for i := range src {
			if many && (src[i].Kind != ir.OperandReg || !s.absorbed[src[i].Reg]) {
				continue
			}
			if d := s.fold(src[i], many); d != nil && s.isFusibleMul(d, n.Type) {
				return []ir.Operand{d.Src[0], d.Src[1], src[1-i]}
			}
		}
	}
	return nil
}

// isFusibleMul says that a node is a product that a sum of that type may be fused with.
func (s *selector) isFusibleMul(d *hir.Node, t ir.Type) bool {
	return d != nil && d.Op == ir.Mul && d.Type == t && s.fusible(d)
}

// findAbsorbed finds the products that all their readers compute as a part of themselves,
// sums with no other product to take: no multiplication is left (sm_90 machine code of
// deploy/calibrate/validation/eighth rotate_image, where half the width is taken from one
// number and added to another, in several blocks).
func (s *selector) findAbsorbed() {
	s.absorbed = make([]bool, len(s.hir.Values))
	taken := make([]int32, len(s.hir.Values))
	for _, b := range s.hir.Order {
		for _, ni := range s.hir.Blocks[b].Nodes {
			n := &s.hir.Nodes[ni]
			if n.Op != ir.Add && n.Op != ir.Sub || hir.IsInt(n.Type) || !s.fusible(n) || len(n.Src) != 2 {
				continue
			}
			one, other := s.multiplyOf(n.Src[0], n.Type), s.multiplyOf(n.Src[1], n.Type)
			if one == vreg.None {
				one, other = other, one
			}
			if one != vreg.None && other == vreg.None && s.mayAbsorb(s.hir.DefOf(one), b) {
				taken[one]++
			}
		}
	}
	for v, n := range taken {
		s.absorbed[v] = n > 1 && n == s.uses[v]
	}
}

// mayAbsorb says that a product may be computed by readers in block b: in a deeper loop
// not with a double that no instruction has room for (great_circle of the seventh batch,
// which turns degrees into radians before its loop, would execute 1 % more instructions
// than it does, of which 8 % are too many).
func (s *selector) mayAbsorb(n *hir.Node, b int) bool {
	if s.hir.Blocks[s.hir.Carrier(n)].LoopDepth >= s.hir.Blocks[b].LoopDepth {
		return true
	}
	for i := range n.Src {
		if o := &n.Src[i]; n.Type == ir.F64 && o.Kind == ir.OperandImm && uint32(o.Imm) != 0 {
			return false
		}
	}
	return true
}

// multiplyOf is the value of an operand that is a product for a sum of that type.
func (s *selector) multiplyOf(o ir.Operand, t ir.Type) vreg.Value {
	if o.Kind != ir.OperandReg || o.Reg == ir.NoReg || !s.isFusibleMul(s.hir.DefOf(vreg.Value(o.Reg)), t) {
		return vreg.None
	}
	return vreg.Value(o.Reg)
}

// fusible says that an operation may be fused with another.
func (s *selector) fusible(n *hir.Node) bool {
	return n.PC >= 0 && s.hir.Kernel.Instrs[n.PC].Round == ir.RoundNone && n.Mod&ir.ModSat == 0
}
