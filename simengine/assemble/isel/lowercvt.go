package isel

import (
	"github.com/warptune/warptune/simengine/assemble/hir"
	"github.com/warptune/warptune/simengine/assemble/isel/expansion"
	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/assemble/vreg"
	"github.com/warptune/warptune/simengine/ir"
)

// lowerCvt lowers conversions.
func (s *selector) lowerCvt(n *hir.Node) error {
	from, to := hir.Bits(n.SrcType), hir.Bits(n.Type)
	d := n.Dst[0]
	switch {
	case hir.IsInt(n.SrcType) && hir.IsInt(n.Type):
		s.cvtInt(n, from, to)
	case hir.IsInt(n.SrcType): // integer to floating point
		op := mir.OpI2F
		if s.hir.Target.FastI2F && n.Type == ir.F32 {
			if o, ok := s.halfWord(n); ok {
				s.emit(op, mir.ValueWords(d, 0, s.hir.Values[d].Words), s.gprWord(o, 0))
				return nil
			}
			if from == 32 || from < 32 && s.loaded(n.Src[0], from) {
				op = mir.OpI2FP
			}
		}
		if from == 64 {
			s.emit(op, mir.ValueWords(d, 0, s.hir.Values[d].Words), s.pair(n.Src[0]))
		} else {
			s.emit(op, mir.ValueWords(d, 0, s.hir.Values[d].Words), s.flexible(n.Src[0], 0))
		}
	case n.Type == ir.F32 && n.SrcType == ir.BF16:
		// SHF.L.U32 R, R, 0x10 in sm_90 machine code; an upper half is taken out first
		// (PRMT R, R, 0x7632).
		src := n.Src[0]
		if word, upper, ok := s.halfOf(src); ok && !upper {
			src = word
		}
		s.emit(mir.OpSHL, mir.ValueWords(d, 0, 1), s.gprWord(src, 0))
	case n.Type == ir.TF32:
		src := s.gprWord(n.Src[0], 0)
		switch {
		case s.hir.Kernel.Instrs[n.PC].Round != ir.RNA:
			s.emit(mir.OpHADD2, mir.ValueWords(d, 0, 1), src) // F2FP.TF32, as fast
		case s.onlyMMAInput(d):
			s.expand(expansion.RoundFactor, mir.ValueWords(d, 0, 1), src)
		default:
			s.expand(expansion.RoundTF32, mir.ValueWords(d, 0, 1), src)
		}
	default:
		op := mir.OpF2F
		half := hir.Bits(n.Type) <= 16 || hir.Bits(n.SrcType) <= 16
		switch {
		case hir.IsInt(n.Type):
			op = mir.OpF2I
		case (half || n.Type == ir.F16x2 || n.Type == ir.BF16x2) && from <= 32 && to <= 32 && s.hir.Target.CC[0] >= 7:
			op = mir.OpHADD2 // or F2FP, as fast (microbenchmark: deploy/calibrate, pipes f2f16)
		case from == to && (n.Mod&ir.ModSat != 0 || n.Mod&ir.ModFtz != 0) && to == 32:
			op = mir.OpFADD
		case from == to:
			op = mir.OpFRND
		}
		args := make([]mir.Arg, 0, 2)
		src := s.stripModifiers(n.Src, n.SrcType, true)
		s.takesHalf = s.takesHalf || from == 16 // HADD2.F32 always takes one half
		op = s.pickOp(op)
		for _, o := range src {
			if from == 64 {
				args = append(args, s.pair(o))
			} else {
				args = append(args, s.gprWord(o, 0))
			}
		}
		s.emit(op, mir.ValueWords(d, 0, s.hir.Values[d].Words), args...)
	}
	return nil
}

// halfWord returns the word whose half a conversion converts, if masking or shifting does no more
// than pick that half: I2F.U16 reads R or R.H1.
//
// Evidence, kernels: monte_carlo.
func (s *selector) halfWord(n *hir.Node) (ir.Operand, bool) {
	if n.SrcType != ir.U32 || n.Src[0].Kind != ir.OperandReg {
		return ir.Operand{}, false
	}
	d := s.hir.DefOf(vreg.Value(n.Src[0].Reg))
	if d == nil || !s.availableHere(d) || len(d.Src) != 2 || d.Src[0].Kind != ir.OperandReg || d.Src[1].Kind != ir.OperandImm || hir.Bits(d.Type) != 32 {
		return ir.Operand{}, false
	}
	low := d.Op == ir.And && d.Src[1].Imm == 0xffff
	high := d.Op == ir.Shr && !hir.Signed(d.Type) && d.Src[1].Imm == 16
	if v := &s.hir.Values[d.Src[0].Reg]; !low && !high || v.Defs != 1 || v.File == vreg.Uniform {
		return ir.Operand{}, false
	}
	return d.Src[0], true
}

// loaded reports whether an operand is a number of up to from bits as it was loaded. Loads extend
// it to a word, which a fast conversion takes.
//
// Evidence, kernels: dedisperse.
func (s *selector) loaded(o ir.Operand, from int) bool {
	for o.Kind == ir.OperandReg {
		d := s.hir.DefOf(vreg.Value(o.Reg))
		switch {
		case d == nil:
			return false
		case d.Op == ir.Ld || d.Op == ir.Ldu:
			return hir.IsInt(d.Type) && hir.Bits(d.Type) <= from
		case d.Op == ir.Cvt && hir.IsInt(d.Type) && hir.IsInt(d.SrcType) && len(d.Src) == 1 && hir.Bits(d.SrcType) <= from:
			o = d.Src[0]
		default:
			return false
		}
	}
	return false
}

// cvtInt lowers integer widening and narrowing.
func (s *selector) cvtInt(n *hir.Node, from, to int) {
	v := n.Dst[0]
	src := n.Src[0]
	lo := func() {
		if s.demand[v]&demandLow == 0 {
			return
		}
		if x := vreg.Value(src.Reg); src.Kind == ir.OperandReg && s.mayShare(x, v, n) {
			s.gprWord(src, 0)
			s.sub[x] = subst{v: v}
			return
		}
		s.emit(mir.OpMOV, s.dest(0, 1), s.flexible(src, 0))
	}
	switch {
	case to == 64 && from == 64:
		s.copyWords(n)
	case to == 64:
		lo()
		if s.demand[v]&demandHigh != 0 {
			if o, ok := s.signWord(v); ok {
				if x := vreg.Value(o.Reg); s.mayShare(x, v, n) {
					s.gprWord(o, 0)
					s.sub[x] = subst{v: v, w: 1}
				} else {
					s.emit(mir.OpMOV, s.dest(1, 1), s.flexible(o, 0))
				}
			} else if hir.Signed(n.SrcType) {
				s.emit(mir.OpSHF, s.dest(1, 1), s.gprWord(src, 0))
			} else {
				s.emit(mir.OpMOV, s.dest(1, 1), mir.Arg{Kind: mir.ArgZero})
			}
		}
	default:
		s.cvtWord(n, from, to)
		if s.hir.Values[v].Words == 2 && s.demand[v]&demandHigh != 0 { // PTX extends a result that goes to a wider register
			if hir.Signed(n.Type) {
				s.emit(mir.OpSHF, s.dest(1, 1), s.dest(0, 1))
			} else {
				s.emit(mir.OpMOV, s.dest(1, 1), mir.Arg{Kind: mir.ArgZero})
			}
		}
	}
}

// cvtWord lowers a conversion between integers to its low word.
func (s *selector) cvtWord(n *hir.Node, from, to int) {
	src := n.Src[0]
	switch {
	case to < from && !(from == 64 && to == 32 || from == 32 && to == 16):
		s.emit(mir.OpLOP3, s.dest(0, 1), s.gprWord(src, 0))
	case from < 32 && to > from && (hir.Signed(n.SrcType) || src.Kind != ir.OperandReg || s.hir.KnownBits(vreg.Value(src.Reg)) > from):
		s.emit(mir.OpPRMT, s.dest(0, 1), s.gprWord(src, 0))
	default:
		s.emit(mir.OpMOV, s.dest(0, 1), s.flexible(src, 0))
	}
}

// mayShare reports whether x may be computed into a word of the pair v.
func (s *selector) mayShare(x, v vreg.Value, n *hir.Node) bool {
	f := s.hir
	if f.Values[x].Defs != 1 || f.Values[v].Defs != 1 || f.Values[x].Words != 1 || f.Values[x].File != vreg.General || f.Values[x].Remat {
		return false
	}
	if _, ok := s.sub[x]; ok {
		return false
	}
	d := f.DefOf(x)
	if d == nil || len(d.Dst) != 1 || d.Guard != n.Guard || f.Blocks[f.Carrier(d)].LoopDepth != f.Blocks[f.Carrier(n)].LoopDepth {
		return false
	}
	if s.localCopy(x) != x {
		return false
	}
	_, through := s.lookThroughCvt(x, 0)
	return !through
}
