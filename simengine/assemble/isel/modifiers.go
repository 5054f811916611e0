package isel

import (
	"github.com/warptune/warptune/simengine/assemble/hir"
	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/assemble/vreg"
	"github.com/warptune/warptune/simengine/ir"
)

// stripModifier returns what an instruction over numbers of a floating-point type reads for an
// operand: it negates by itself, takes absolute values where abs says so (sums, products
// and comparisons do, multiply-adds do not), and of halves takes the one that it needs
// from the word they lie in (HADD2.F32 R, -RZ, R.H1_H1 in sm_90 machine code of gemv_w4,
// FFMA R, -R, R, R of lavamd: deploy/calibrate/validation/sixth), of a pair of equal ones too
// (HFMA2 R, R.H0_H0, R, R of hgemm_tile: ninth). What is read in place or
// from a uniform register is not looked for behind a sign (fourth, gmm).
func (s *selector) stripModifier(o ir.Operand, t ir.Type, abs bool) ir.Operand {
	single := hir.Bits(t) == 16
	for o.Kind == ir.OperandReg {
		d := s.hir.DefOf(vreg.Value(o.Reg))
		if d == nil || !s.availableHere(d) {
			break
		}
		if !single && hir.IsHalf(t) && d.RepeatsHalf() && s.hir.Values[d.Src[0].Reg].Defs == 1 {
			o, single, s.takesHalf = d.Src[0], true, true
			continue
		}
		if word, _, ok := s.halfOf(o); ok && single && s.hir.Target.CC[0] >= 7 {
			o, s.takesHalf = word, true
			continue
		}
		sign := d.Type == t && d.Mod&ir.ModSat == 0 && (d.Op == ir.Neg || d.Op == ir.Abs && abs)
		if !sign || !s.inGPR(d.Src[0]) {
			break
		}
		o = d.Src[0]
	}
	return o
}

// inGPR says of what an operation reads that it is in a general register, whenever it is read.
func (s *selector) inGPR(o ir.Operand) bool {
	if o.Kind != ir.OperandReg {
		return false
	}
	v := &s.hir.Values[o.Reg]
	return v.Defs == 1 && v.File == vreg.General && s.slotRank(o) == 0
}

// stripModifiers is plain of all operands. It leaves in picked whether of any a half is taken.
func (s *selector) stripModifiers(ops []ir.Operand, t ir.Type, abs bool) []ir.Operand {
	out := make([]ir.Operand, len(ops), max(len(ops), 3))
	s.takesHalf = false
	for i, o := range ops {
		out[i] = s.stripModifier(o, t, abs)
	}
	return out
}

// pickOp returns what an operation on halves is whose operands plains returned last. Of those
// that take words ptxas gives every other one to a second pipe (HFMA2.MMA); one that takes a
// half of a word cannot go there, and is as slow as an integer product, whose pipe it shares
// (deploy/calibrate halves, on an H200). That sums of single precision wait for it, too, is
// left out.
func (s *selector) pickOp(op mir.Op) mir.Op {
	switch op {
	case mir.OpHADD2, mir.OpHMUL2, mir.OpHFMA2:
		if s.takesHalf && s.hir.Target.CC[0] >= 9 {
			return mir.OpHFMA2PICK
		}
	}
	return op
}

// halfOf returns the word that an operand is one half of, taken out by a move, and which.
func (s *selector) halfOf(o ir.Operand) (word ir.Operand, upper, ok bool) {
	if o.Kind != ir.OperandReg {
		return o, false, false
	}
	d := s.hir.DefOf(vreg.Value(o.Reg))
	if d == nil || !s.availableHere(d) || d.Op != ir.Mov || len(d.Dst) != 2 || len(d.Src) != 1 || !s.inGPR(d.Src[0]) || s.hir.Values[d.Src[0].Reg].Words != 1 {
		return o, false, false
	}
	return d.Src[0], d.Dst[1] == vreg.Value(o.Reg), true
}
