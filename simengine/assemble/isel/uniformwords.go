package isel

import (
	"github.com/warptune/warptune/simengine/assemble/hir"
	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/assemble/vreg"
	"github.com/warptune/warptune/simengine/ir"
)

// Operands that must lie in adjacent uniform registers: descriptors of matrices, addresses and
// coordinates of bulk copies.

// uniformWords brings the words of operands into one uniform value. A word computed on the uniform
// datapath for this alone is computed in place; other words are moved, those in general registers by
// R2UR.
func (s *selector) uniformWords(ops ...ir.Operand) mir.Arg {
	total := uint8(0)
	for i := range ops {
		total += s.operandWords(&ops[i])
	}
	size := uint8(1)
	for size < total {
		size *= 2
	}
	g, at := s.newValue(size, vreg.Uniform), uint8(0)
	for _, o := range ops {
		n := s.operandWords(&o)
		if s.computedInPlace(o, n) {
			s.sub[s.twinOf(vreg.Value(o.Reg))] = subst{v: g, w: at}
			s.demand[o.Reg] |= demandUniform | demandLow | demandHigh&(demandHigh*demand(n-1))
			at += n
			continue
		}
		for w := range n {
			s.moveToUniform(mir.ValueWords(g, at, 1), o, w)
			at++
		}
	}
	return mir.ValueWords(g, 0, total)
}

// operandWords is the 32-bit words of an operand.
func (s *selector) operandWords(o *ir.Operand) uint8 {
	if o.Kind == ir.OperandReg {
		return s.hir.Values[o.Reg].Words
	}
	return 1
}

// computedInPlace reports whether an operand of n words is computed on the uniform datapath for the
// present node alone, by an addition.
func (s *selector) computedInPlace(o ir.Operand, n uint8) bool {
	if o.Kind != ir.OperandReg || s.uses[o.Reg] != 1 || s.twin[o.Reg] != vreg.None || s.demand[o.Reg] != 0 {
		return false
	}
	v := vreg.Value(o.Reg)
	d := s.hir.DefOf(v)
	if d == nil || d.Op != ir.Add || !s.hir.Values[v].Uniform || s.hir.Values[v].File != vreg.General || !s.uniformOp(d) {
		return false
	}
	return s.hir.Carrier(d) == s.b && s.localCopy(v) == v
}

// moveToUniform brings word w of an operand into a uniform register.
func (s *selector) moveToUniform(to mir.Arg, o ir.Operand, w uint8) {
	o, w = s.wordBehind(o, w)
	switch o.Kind {
	case ir.OperandImm:
		s.emit(mir.OpUMOV, to, mir.Arg{Kind: mir.ArgImm, Imm: int64(int32(o.Imm >> (32 * w)))})
		return
	case ir.OperandVar:
		s.emit(mir.OpUMOV, to, s.uniOperand(o))
		return
	}
	v := s.localCopy(vreg.Value(o.Reg))
	vi := &s.hir.Values[v]
	if vi.File == vreg.Uniform || vi.Uniform && (vi.Defs == 1 || vi.Remat) && vi.File == vreg.General && s.onUniformPath(v) {
		s.emit(mir.OpUMOV, to, s.uniWord(o, w))
		return
	}
	s.emit(mir.OpR2UR, to, s.gprWord(o, w))
}

// onUniformPath reports whether the uniform datapath computes a value.
func (s *selector) onUniformPath(v vreg.Value) bool {
	d := s.hir.DefOf(v)
	return d == nil || s.uniformOp(d)
}

// wordBehind follows a word of an operand through operations that leave it as it is. It returns the
// operand and the word of it that it equals; that of an immediate may be combined from several.
func (s *selector) wordBehind(o ir.Operand, w uint8) (ir.Operand, uint8) {
	for range 8 {
		if o.Kind != ir.OperandReg {
			return o, w
		}
		d := s.hir.DefOf(vreg.Value(o.Reg))
		if d == nil || !s.availableHere(d) || len(d.Dst) != 1 {
			return o, w
		}
		switch {
		case d.Op == ir.Cvt && hir.IsInt(d.Type) && hir.IsInt(d.SrcType) && hir.Bits(d.Type) == 64 && hir.Bits(d.SrcType) == 32 && s.once(d.Src[0]):
			if w == 1 && hir.Signed(d.SrcType) {
				return o, w
			}
			if w == 1 {
				return ir.Operand{Kind: ir.OperandImm, Reg: ir.NoReg, Var: -1, Param: -1}, 0
			}
			o = d.Src[0]
		case d.Op == ir.Or && hir.Bits(d.Type) == 64 && len(d.Src) == 2:
			x, xw := s.wordBehind(d.Src[0], w)
			y, yw := s.wordBehind(d.Src[1], w)
			if y.Kind != ir.OperandImm {
				x, xw, y, yw = y, yw, x, xw
			}
			switch imm := uint32(y.Imm >> (32 * yw)); {
			case y.Kind != ir.OperandImm:
				return o, w
			case x.Kind == ir.OperandImm:
				y.Imm = uint64(imm | uint32(x.Imm>>(32*xw)))
				return y, 0
			case imm != 0:
				return o, w
			}
			return x, xw
		default:
			return o, w
		}
	}
	return o, w
}

// once reports whether an operand has one value wherever it is read.
func (s *selector) once(o ir.Operand) bool {
	return o.Kind != ir.OperandReg || s.hir.Values[o.Reg].Defs == 1
}
