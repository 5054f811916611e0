package isel

import (
	"github.com/warptune/warptune/simengine/assemble/hir"
	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/assemble/vreg"
	"github.com/warptune/warptune/simengine/ir"
)

// doubles returns the operands of double-precision arithmetic, one of which may lie elsewhere than
// in general registers: before Hopper in constant memory; on Hopper in the instruction, if its
// lower word is zero, or in a pair of uniform registers.
//
// Evidence, ptxas corpus: of 18,000 DFMA, DADD and DMUL of 850 kernels of HeCBench for sm_90, 3,960
// have an immediate, 3,260 a uniform pair, none both.
func (s *selector) doubles(ops []ir.Operand) []mir.Arg {
	args := make([]mir.Arg, len(ops), 5)
	if !s.hir.Target.ConstOperand {
		at := s.flexibleAt(ops)
		for i, o := range ops {
			if i == at {
				args[i] = s.flexiblePair(o)
			} else {
				args[i] = s.pair(o)
			}
		}
		return args
	}
	free := true
	for i, o := range ops {
		if !free {
			args[i] = s.pair(o)
			continue
		}
		var taken bool
		args[i], taken = s.pairOrConstant(o)
		free = !taken
	}
	return args
}

// flexibleAt returns the index of the operand that takes the flexible slot, -1 for none: an
// immediate first, the addend before the factors, then what lies in uniform registers.
func (s *selector) flexibleAt(ops []ir.Operand) int {
	best, at := 0, -1
	for i, o := range ops {
		rank := 0
		switch {
		case o.Kind == ir.OperandReg && s.residesInPair(vreg.Value(o.Reg)):
			rank = 2
		case o.Kind != ir.OperandImm || o.Imm == 0:
		case uint32(o.Imm) == 0:
			rank = 3
		case s.hir.Target.Uniform:
			rank = 1
		}
		if rank > 0 && rank >= best {
			best, at = rank, i
		}
	}
	return at
}

// residesInPair reports whether a 64-bit value may be read from uniform registers.
func (s *selector) residesInPair(v vreg.Value) bool {
	if s.hir.Values[v].Words != 2 {
		return false
	}
	return s.hir.Values[v].File == vreg.Uniform || s.uniformValue(s.localCopy(v))
}

// flexiblePair returns the 64-bit operand that flexibleAt chose.
func (s *selector) flexiblePair(o ir.Operand) mir.Arg {
	if o.Kind == ir.OperandReg {
		v := s.localCopy(vreg.Value(o.Reg))
		s.demand[v] |= demandLow | demandHigh
		if s.hir.Values[v].File != vreg.Uniform {
			s.demand[v] |= demandEither
		}
		return mir.ValueWords(v, 0, 2)
	}
	if uint32(o.Imm) == 0 {
		return mir.Arg{Kind: mir.ArgImm, Imm: int64(int32(o.Imm >> 32))}
	}
	return s.uniformNumber(o.Imm)
}

// uniformNumber brings a constant of 64 bits into a pair of uniform registers of its own.
func (s *selector) uniformNumber(imm uint64) mir.Arg {
	t := mir.ValueWords(s.newValue(2, vreg.Uniform), 0, 2)
	s.out.UniformNumbers[t.Value] = true
	for w := range uint8(2) {
		half := t
		half.Word, half.N = w, 1
		s.emit(mir.OpUMOV, half, mir.Arg{Kind: mir.ArgImm, Imm: int64(int32(imm >> (32 * w)))})
	}
	return t
}

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
