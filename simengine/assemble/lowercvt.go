package assemble

import "github.com/warptune/warptune/simengine/ir"

// lowerCvt lowers conversions.
func (s *selector) lowerCvt(n *node) error {
	from, to := bits(n.styp), bits(n.typ)
	d := n.dst[0]
	switch {
	case isInt(n.styp) && isInt(n.typ):
		s.cvtInt(n, from, to)
	case isInt(n.styp): // integer to floating point
		op := opI2F
		if s.f.t.i2fFast && n.typ == ir.F32 {
			if o, ok := s.halfWord(n); ok {
				s.emit(op, valueArg(d, 0, s.f.vals[d].words), s.word(o, 0))
				return nil
			}
			if from == 32 || from < 32 && s.loaded(n.src[0], from) {
				op = opI2FP
			}
		}
		if from == 64 {
			s.emit(op, valueArg(d, 0, s.f.vals[d].words), s.pair(n.src[0]))
		} else {
			s.emit(op, valueArg(d, 0, s.f.vals[d].words), s.mixOne(n.src[0], 0))
		}
	case n.typ == ir.F32 && n.styp == ir.BF16:
		// SHF.L.U32 R, R, 0x10 in sm_90 machine code; an upper half is taken out first
		// (PRMT R, R, 0x7632).
		src := n.src[0]
		if word, upper, ok := s.halfOf(src); ok && !upper {
			src = word
		}
		s.emit(opSHL, valueArg(d, 0, 1), s.word(src, 0))
	case n.typ == ir.TF32:
		src := s.word(n.src[0], 0)
		switch {
		case s.f.k.Instrs[n.pc].Round != ir.RNA:
			s.emit(opHADD2, valueArg(d, 0, 1), src) // F2FP.TF32, as fast
		case s.multiplied(d):
			s.expand(roundFactor, valueArg(d, 0, 1), src)
		default:
			s.expand(roundTF32, valueArg(d, 0, 1), src)
		}
	default:
		op := opF2F
		half := bits(n.typ) <= 16 || bits(n.styp) <= 16
		switch {
		case isInt(n.typ):
			op = opF2I
		case (half || n.typ == ir.F16x2 || n.typ == ir.BF16x2) && from <= 32 && to <= 32 && s.f.t.cc[0] >= 7:
			op = opHADD2 // and F2FP, as fast (deploy/calibrate pipe f2f16)
		case from == to && (n.mod&ir.ModSat != 0 || n.mod&ir.ModFtz != 0) && to == 32:
			op = opFADD
		case from == to:
			op = opFRND
		}
		args := make([]arg, 0, 2)
		src := s.plains(n.src, n.styp, true)
		s.picked = s.picked || from == 16 // HADD2.F32 takes one half whatever it reads
		op = s.picking(op)
		for _, o := range src {
			if from == 64 {
				args = append(args, s.pair(o))
			} else {
				args = append(args, s.word(o, 0))
			}
		}
		s.emit(op, valueArg(d, 0, s.f.vals[d].words), args...)
	}
	return nil
}

// halfWord looks through what leaves one half of a word to a conversion, which
// takes it from there: I2F.U16 R, R and R.H1 (monte_carlo's machine code,
// deploy/calibrate/validation/further).
func (s *selector) halfWord(n *node) (ir.Operand, bool) {
	if n.styp != ir.U32 || n.src[0].Kind != ir.OperandReg {
		return ir.Operand{}, false
	}
	d := s.f.defOf(value(n.src[0].Reg))
	if d == nil || !s.holds(d) || len(d.src) != 2 || d.src[0].Kind != ir.OperandReg || d.src[1].Kind != ir.OperandImm || bits(d.typ) != 32 {
		return ir.Operand{}, false
	}
	low := d.op == ir.And && d.src[1].Imm == 0xffff
	high := d.op == ir.Shr && !signed(d.typ) && d.src[1].Imm == 16
	if v := &s.f.vals[d.src[0].Reg]; !low && !high || v.defs != 1 || v.file == fileUniform {
		return ir.Operand{}, false
	}
	return d.src[0], true
}

// loaded says that a number of so many bits was loaded and not computed with
// since: loads extend it to a word, which a fast conversion then takes
// (dedisperse's machine code, deploy/calibrate/validation/third).
func (s *selector) loaded(o ir.Operand, from int) bool {
	for o.Kind == ir.OperandReg {
		d := s.f.defOf(value(o.Reg))
		switch {
		case d == nil:
			return false
		case d.op == ir.Ld || d.op == ir.Ldu:
			return isInt(d.typ) && bits(d.typ) <= from
		case d.op == ir.Cvt && isInt(d.typ) && isInt(d.styp) && len(d.src) == 1 && bits(d.styp) <= from:
			o = d.src[0]
		default:
			return false
		}
	}
	return false
}

// cvtInt lowers integer widening and narrowing.
func (s *selector) cvtInt(n *node, from, to int) {
	v := n.dst[0]
	src := n.src[0]
	lo := func() {
		if s.want[v]&wantLo == 0 {
			return
		}
		if x := value(src.Reg); src.Kind == ir.OperandReg && s.tieable(x, v, n) {
			s.word(src, 0)
			s.sub[x] = subst{v: v}
			return
		}
		s.emit(opMOV, s.dest(0, 1), s.mixOne(src, 0))
	}
	switch {
	case to == 64 && from == 64:
		s.copyWords(n)
	case to == 64:
		lo()
		if s.want[v]&wantHi != 0 {
			if o, ok := s.signWord(v); ok {
				if x := value(o.Reg); s.tieable(x, v, n) {
					s.word(o, 0)
					s.sub[x] = subst{v: v, w: 1}
				} else {
					s.emit(opMOV, s.dest(1, 1), s.mixOne(o, 0))
				}
			} else if signed(n.styp) {
				s.emit(opSHF, s.dest(1, 1), s.word(src, 0))
			} else {
				s.emit(opMOV, s.dest(1, 1), arg{kind: argZero})
			}
		}
	default:
		s.cvtWord(n, from, to)
		if s.f.vals[v].words == 2 && s.want[v]&wantHi != 0 { // PTX extends what it puts into a wider register
			if signed(n.typ) {
				s.emit(opSHF, s.dest(1, 1), s.dest(0, 1))
			} else {
				s.emit(opMOV, s.dest(1, 1), arg{kind: argZero})
			}
		}
	}
}

// cvtWord lowers a conversion between integers to its low word.
func (s *selector) cvtWord(n *node, from, to int) {
	src := n.src[0]
	switch {
	case to < from && !(from == 64 && to == 32 || from == 32 && to == 16):
		s.emit(opLOP3, s.dest(0, 1), s.word(src, 0))
	case from < 32 && to > from && (signed(n.styp) || src.Kind != ir.OperandReg || s.f.knownBits(value(src.Reg)) > from):
		s.emit(opPRMT, s.dest(0, 1), s.word(src, 0))
	default:
		s.emit(opMOV, s.dest(0, 1), s.mixOne(src, 0))
	}
}

// tieable says whether the low word of pair v may be the register that x is
// computed into.
func (s *selector) tieable(x, v value, n *node) bool {
	f := s.f
	if f.vals[x].defs != 1 || f.vals[v].defs != 1 || f.vals[x].words != 1 || f.vals[x].file != fileGeneral || f.vals[x].remat {
		return false
	}
	if _, ok := s.sub[x]; ok {
		return false
	}
	d := f.defOf(x)
	if d == nil || len(d.dst) != 1 || d.guard != n.guard || f.blocks[f.carrier(d)].depth != f.blocks[f.carrier(n)].depth {
		return false
	}
	if s.local(x) != x {
		return false
	}
	_, through := s.throughCvt(x, 0)
	return !through
}
