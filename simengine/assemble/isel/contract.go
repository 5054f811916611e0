package isel

import (
	"github.com/warptune/warptune/simengine/assemble/hir"
	"github.com/warptune/warptune/simengine/assemble/vreg"
	"github.com/warptune/warptune/simengine/ir"
)

// Contraction: an addition and a multiplication that name no rounding become one multiply-add, as
// the PTX ISA allows.

// contract returns the operands of the multiply-add for addition n of src, nil where there is none.
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

// isFusibleMul reports whether node d is a multiplication that an addition of type t may take in.
func (s *selector) isFusibleMul(d *hir.Node, t ir.Type) bool {
	return d != nil && d.Op == ir.Mul && d.Type == t && s.fusible(d)
}

// findAbsorbed finds multiplications whose readers are all additions that take them in, so that
// none is left.
//
// Evidence, kernels: rotate_image, where half the width is subtracted from one number and added to
// another.
func (s *selector) findAbsorbed() {
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

// mayAbsorb reports whether readers in block b may repeat a multiplication. In a deeper loop they
// do not if a factor is a double that no instruction has room for.
//
// Evidence, kernels: great_circle.
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

// multiplyOf returns the value of an operand that is a multiplication for an addition of type t,
// else None.
func (s *selector) multiplyOf(o ir.Operand, t ir.Type) vreg.Value {
	if o.Kind != ir.OperandReg || o.Reg == ir.NoReg || !s.isFusibleMul(s.hir.DefOf(vreg.Value(o.Reg)), t) {
		return vreg.None
	}
	return vreg.Value(o.Reg)
}

// fusible reports whether an operation may be fused: it names no rounding and does not saturate.
func (s *selector) fusible(n *hir.Node) bool {
	return n.PC >= 0 && s.hir.Kernel.Instrs[n.PC].Round == ir.RoundNone && n.Mod&ir.ModSat == 0
}
