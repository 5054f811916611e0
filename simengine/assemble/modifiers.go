package assemble

import "github.com/warptune/warptune/simengine/ir"

// plain returns what an instruction over numbers of a floating-point type reads for an
// operand: it negates by itself, takes absolute values where abs says so (sums, products
// and comparisons do, multiply-adds do not), and of halves takes the one that it needs
// from the word they lie in (HADD2.F32 R, -RZ, R.H1_H1 in sm_90 machine code of gemv_w4,
// FFMA R, -R, R, R of lavamd: deploy/calibrate/validation/sixth), of a pair of equal ones too
// (HFMA2 R, R.H0_H0, R, R of hgemm_tile: ninth). What is read in place or
// from a uniform register is not looked for behind a sign (fourth, gmm).
func (s *selector) plain(o ir.Operand, t ir.Type, abs bool) ir.Operand {
	single := bits(t) == 16
	for o.Kind == ir.OperandReg {
		d := s.f.defOf(value(o.Reg))
		if d == nil || !s.holds(d) {
			break
		}
		if !single && isHalves(t) && d.repeatsHalf() && s.f.vals[d.src[0].Reg].defs == 1 {
			o, single, s.picked = d.src[0], true, true
			continue
		}
		if word, _, ok := s.halfOf(o); ok && single && s.f.t.cc[0] >= 7 {
			o, s.picked = word, true
			continue
		}
		sign := d.typ == t && d.mod&ir.ModSat == 0 && (d.op == ir.Neg || d.op == ir.Abs && abs)
		if !sign || !s.inGPR(d.src[0]) {
			break
		}
		o = d.src[0]
	}
	return o
}

// inGPR says of what an operation reads that it is in a general register, whenever it is read.
func (s *selector) inGPR(o ir.Operand) bool {
	if o.Kind != ir.OperandReg {
		return false
	}
	v := &s.f.vals[o.Reg]
	return v.defs == 1 && v.file == fileGeneral && s.nonGPR(o) == 0
}

// plains is plain of all operands. It leaves in picked whether of any a half is taken.
func (s *selector) plains(ops []ir.Operand, t ir.Type, abs bool) []ir.Operand {
	out := make([]ir.Operand, len(ops), max(len(ops), 3))
	s.picked = false
	for i, o := range ops {
		out[i] = s.plain(o, t, abs)
	}
	return out
}

// picking returns what an operation on halves is whose operands plains returned last. Of those
// that take words ptxas gives every other one to a second pipe (HFMA2.MMA); one that takes a
// half of a word cannot go there, and is as slow as an integer product, whose pipe it shares
// (deploy/calibrate halves, on an H200). That sums of single precision wait for it, too, is
// left out.
func (s *selector) picking(op mop) mop {
	switch op {
	case opHADD2, opHMUL2, opHFMA2:
		if s.picked && s.f.t.cc[0] >= 9 {
			return opHFMA2PICK
		}
	}
	return op
}

// halfOf returns the word that an operand is one half of, taken out by a move, and which.
func (s *selector) halfOf(o ir.Operand) (word ir.Operand, upper, ok bool) {
	if o.Kind != ir.OperandReg {
		return o, false, false
	}
	d := s.f.defOf(value(o.Reg))
	if d == nil || !s.holds(d) || d.op != ir.Mov || len(d.dst) != 2 || len(d.src) != 1 || !s.inGPR(d.src[0]) || s.f.vals[d.src[0].Reg].words != 1 {
		return o, false, false
	}
	return d.src[0], d.dst[1] == value(o.Reg), true
}
