package isel

import (
	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/assemble/vreg"
	"github.com/warptune/warptune/simengine/ir"
)

// doubles returns the operands of double-precision arithmetic, one of which need not be
// a pair of general registers. Until Hopper it may lie in constant memory. On Hopper it
// is a number whose lower word is zero, in the instruction, or a pair of uniform
// registers, to which other numbers are brought where they are used: of the 18,000 DFMA,
// DADD, DMUL in the sm_90 machine code of 850 kernels of HeCBench (nvcc 13.0) 3,960
// have the one, 3,260 the other and none has two.
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

// flexibleAt returns which of some operands of 64 bits need be no pair of general registers,
// -1 none: a number in the instruction first, of which the addend's (`DFMA R, R, R, 0.5`
// where both are), then what lies in uniform registers anyway.
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

// residesInPair says whether a value of two words may be read from uniform registers.
func (s *selector) residesInPair(v vreg.Value) bool {
	if s.hir.Values[v].Words != 2 {
		return false
	}
	return s.hir.Values[v].File == vreg.Uniform || s.uniformValue(s.localCopy(v))
}

// flexiblePair returns the operand that aside chose.
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
	t := mir.ValueWords(s.newValue(2, vreg.Uniform), 0, 2)
	s.out.UniformNumbers[t.Value] = true
	for w := range uint8(2) {
		half := t
		half.Word, half.N = w, 1
		s.emit(mir.OpUMOV, half, mir.Arg{Kind: mir.ArgImm, Imm: int64(int32(o.Imm >> (32 * w)))})
	}
	return t
}
