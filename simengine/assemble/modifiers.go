package assemble

import "github.com/warptune/warptune/simengine/ir"

// plain returns what an instruction over numbers of a floating-point type reads for an
// operand: it negates by itself, takes absolute values where abs says so (sums, products
// and comparisons do, multiply-adds do not), and of halves takes the one that it needs
// from the word they lie in (HADD2.F32 R, -RZ, R.H1_H1 in sm_90 machine code of gemv_w4,
// FFMA R, -R, R, R of lavamd: deploy/calibrate/datasets/h200-2026-11-22-project-d), of a pair of equal ones too
// (HFMA2 R, R.H0_H0, R, R of hgemm_tile: h200-2026-11-23-project-e). What is read in place or
// from a uniform register is not looked for behind a sign (gmm of h200-constant-tables).
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

// saturate has sums and products whose only reader cuts them to [0, 1] do so themselves.
func (f *fn) saturate() error {
	uses := f.countUses()
	for _, b := range f.order {
		for _, ni := range f.blocks[b].nodes {
			n := &f.nodes[ni]
			if n.op != ir.Cvt || n.typ != ir.F32 || n.styp != ir.F32 || n.mod&^ir.ModFtz != ir.ModSat || n.src[0].Kind != ir.OperandReg {
				continue
			}
			d := f.defOf(value(n.src[0].Reg))
			if d == nil || d.typ != ir.F32 || uses[n.src[0].Reg] != 1 || d.guard != n.guard || d.gnot != n.gnot {
				continue
			}
			switch d.op {
			case ir.Add, ir.Sub, ir.Mul, ir.Mad, ir.Fma:
				d.mod |= ir.ModSat
				n.op, n.mod = ir.Mov, 0
			}
		}
	}
	return nil
}
