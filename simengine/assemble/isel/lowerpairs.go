package isel

import (
	"github.com/warptune/warptune/simengine/assemble/hir"
	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/assemble/vreg"
	"github.com/warptune/warptune/simengine/ir"
)

// Fused additions, minima and maxima of Hopper, also of pairs of 16-bit integers (ptxas corpus:
// CUDA's SIMD intrinsics).

// lowerPairs lowers operations on pairs of 16-bit integers that fuse with another, and reports
// whether it did.
func (s *selector) lowerPairs(n *hir.Node) bool {
	switch n.Op {
	case ir.Min, ir.Max:
		return s.minMaxOf3(n)
	case ir.Add:
		for i := range n.Src {
			if x, ok := s.negatedPair(n.Src[i]); ok {
				s.emit(mir.OpIADD3, s.dest(0, 1), s.operands(0, n.Src[1-i], x)...)
				return true
			}
		}
	}
	return false
}

// minMaxOf3 lowers a minimum or maximum of three, or of an addition and another operand. It reports
// whether it did.
func (s *selector) minMaxOf3(n *hir.Node) bool {
	if !s.hir.Target.AddMinMax || hir.Words(n.Type) != 1 {
		return false
	}
	for i := range n.Src {
		if d := s.fold(n.Src[i], false); d != nil && d.Op == n.Op && d.Type == n.Type {
			s.emit(mir.OpIMNMX3, s.dest(0, 1), s.operands(0, d.Src[0], d.Src[1], n.Src[1-i])...)
			return true
		}
	}
	for i := range n.Src {
		if d := s.fold(n.Src[i], false); d != nil && d.Op == ir.Add && (hir.IsInt(d.Type) == hir.IsInt(n.Type)) && d.Type.Packed().IsFloat() == n.Type.Packed().IsFloat() && len(d.Src) == 2 {
			s.emit(mir.OpADDMNMX, s.dest(0, 1), s.operands(0, d.Src[0], d.Src[1], n.Src[1-i])...)
			return true
		}
	}
	return false
}

// negatedPair returns the word of which o has both halves negated: unpacked, negated and packed, as
// CUDA writes a difference of pairs.
func (s *selector) negatedPair(o ir.Operand) (ir.Operand, bool) {
	pack := s.fold(o, false)
	if pack == nil || pack.Op != ir.Mov || len(pack.Src) != 2 {
		return o, false
	}
	var of *hir.Node
	for i := range 2 {
		neg := s.fold(pack.Src[i], false)
		if neg == nil || neg.Op != ir.Neg || hir.Bits(neg.Type) != 16 || neg.Src[0].Kind != ir.OperandReg {
			return o, false
		}
		v := vreg.Value(neg.Src[0].Reg)
		d := s.hir.DefOf(v)
		if d == nil || d.Op != ir.Mov || len(d.Dst) != 2 || d.Dst[i] != v || of != nil && d != of {
			return o, false
		}
		of = d
	}
	x := of.Src[0]
	if x.Kind != ir.OperandReg || s.hir.Values[x.Reg].Defs != 1 || s.hir.Values[x.Reg].Words != 1 {
		return o, false
	}
	return x, true
}
