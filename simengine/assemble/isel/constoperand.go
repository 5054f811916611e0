package isel

import (
	"github.com/warptune/warptune/simengine/assemble/hir"
	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/assemble/vreg"
	"github.com/warptune/warptune/simengine/ir"
)

// Constant memory as an operand.
//
// Before Hopper an instruction reads one word or one pair of constant memory in place,
// c[bank][offset]: kernel parameters, constants at a fixed address, the launch's dimensions, and
// 64-bit immediates (CUDA Binary Utilities, instruction sets of Kepler to Ada). Instructions that
// read registers only need a move first. The uniform datapath reads no constant in place.
//
// Evidence, ptxas corpus: all 42,525 multiply-adds that read a constant in 20 convolutions for
// sm_75, and 1,298 of 3,730 in 19 kernels of doubles for sm_86.

// constant returns n words of an operand from word w on as constant memory, if an instruction can
// read it in place.
func (s *selector) constant(o ir.Operand, w, n uint8) (mir.Arg, bool) {
	if !s.hir.Target.ConstOperand || o.Kind != ir.OperandReg {
		return mir.Arg{}, false
	}
	v := vreg.Value(o.Reg)
	if v >= vreg.Value(len(s.demand)) || w+n > s.hir.Values[v].Words {
		return mir.Arg{}, false
	}
	d := s.hir.DefOf(v)
	if d == nil || !s.inPlace(d) {
		return mir.Arg{}, false
	}
	if d.Op == ir.Ld && d.Space == ir.Const {
		s.out.ReadInPlace = append(s.out.ReadInPlace, d.PC)
	}
	return mir.Arg{Kind: mir.ArgConst, Word: w, N: n}, true
}

// inPlace reports whether the value of a node lies in constant memory at a fixed address, in whole
// words.
func (s *selector) inPlace(d *hir.Node) bool {
	switch {
	case !s.hir.Target.ConstOperand || d.Guard != vreg.None:
	case d.Op == ir.Mov:
		return len(d.Dst) == 1 && len(d.Src) == 1 && d.Src[0].Kind == ir.OperandSpecial && isLaunchConstant(d.Src[0].Special)
	case d.Op == ir.Ld:
		return (d.Space == ir.ParamSpace || d.Space == ir.Const) && d.Src[0].Reg == ir.NoReg && hir.Bits(d.Type) >= 32
	}
	return false
}

// isLaunchConstant reports whether a special register is a word of constant memory: a dimension of
// the launch.
func isLaunchConstant(sp ir.Special) bool {
	switch sp {
	case ir.NTidX, ir.NTidY, ir.NTidZ, ir.NCTAIdX, ir.NCTAIdY, ir.NCTAIdZ:
		return true
	}
	return false
}

// moveConstants lowers a node whose value lies in constant memory to moves, for readers that take
// registers only. It returns false for other nodes.
func (s *selector) moveConstants(n *hir.Node) bool {
	if !s.inPlace(n) {
		return false
	}
	if n.Op == ir.Ld && n.Space == ir.Const {
		s.out.ReadInPlace = append(s.out.ReadInPlace, n.PC)
	}
	for _, d := range n.Dst {
		for w := uint8(0); d >= 0 && w < s.hir.Values[d].Words; w++ {
			if s.demand[d]&(demandLow<<w) != 0 {
				s.emit(mir.OpMOV, mir.ValueWords(d, w, 1), mir.Arg{Kind: mir.ArgConst, Word: w, N: 1})
			}
		}
	}
	return true
}

// pairOrConstant returns a 64-bit operand for a slot that also takes constant memory, and reports
// whether it lies there.
func (s *selector) pairOrConstant(o ir.Operand) (a mir.Arg, constant bool) {
	if a, ok := s.constant(o, 0, 2); ok {
		return a, true
	}
	if s.hir.Target.ConstOperand && o.Kind == ir.OperandImm && o.Imm != 0 {
		return mir.Arg{Kind: mir.ArgConst, N: 2}, true
	}
	return s.pair(o), false
}

// wideAddOperands returns the operands of IMAD.WIDE a*b + add. Where add is read in place,
// immediate factors are in registers, common to the block.
func (s *selector) wideAddOperands(a, b, add ir.Operand) (x, y, sum mir.Arg) {
	if c, ok := s.constant(add, 0, 2); ok {
		return s.gprImmediate(a), s.gprImmediate(b), c
	}
	if add.Kind == ir.OperandReg && s.steppedInPlace[s.localCopy(vreg.Value(add.Reg))] {
		return s.gprWord(a, 0), s.gprWord(b, 0), s.uniPair(add)
	}
	m := s.operands(0, a, b)
	return m[0], m[1], s.pair(add)
}

// gprImmediate returns an operand in a general register.
func (s *selector) gprImmediate(o ir.Operand) mir.Arg {
	if o.Kind != ir.OperandImm || o.Imm == 0 {
		return s.gprWord(o, 0)
	}
	key := localKey{block: s.definingBlock(), reg: vreg.None, vr: -1, imm: int32(o.Imm)}
	v, ok := s.local[key]
	if !ok {
		v = s.newValue(1, vreg.General)
		s.hir.Values[v].Uniform, s.hir.Values[v].Remat = true, true
		s.local[key] = v
		s.pending[key.block] = append(s.pending[key.block], localDef{v: v, vr: -1, imm: key.imm})
	}
	s.demand[v] |= demandLow | demandGeneral
	return mir.ValueWords(v, 0, 1)
}
