package assemble

import (
	"github.com/warptune/warptune/simengine/ir"
)

// lowerMma lowers a product of matrices to HMMA, IMMA or DMMA, one or, where the tensor cores
// of a generation take fewer rows or less depth at a time, several.
func (s *selector) lowerMma(n *node) error {
	step, err := s.f.t.product(n.matrix)
	if err != nil {
		return err
	}
	op, per := multiplier(&step), uint8(1)
	if op == opDMMA {
		per = 2
	}
	d, copied := s.results(n, per)
	_, _, sum := n.fragments()
	fa, fb, _ := n.fragments()
	c := s.fragment(sum, per, d)
	a, b := s.fragment(fa, per, arg{}), s.fragment(fb, per, arg{})
	rows, deep := n.matrix.M/step.M, n.matrix.K/step.K
	for k := range deep {
		for r := range rows {
			// The registers of A go by rows first, those of C and D by rows.
			at := share(a, rows*deep, k*rows+r)
			to, from := share(d, rows, r), share(c, rows, r)
			if k > 0 {
				from = to
			}
			s.emit(op, to, at, share(b, deep, k), from)
		}
	}
	if copied {
		s.unpackVector(n.dst, d)
	}
	return nil
}

// multiplier is the instruction for a shape.
func multiplier(m *ir.Matrix) mop {
	a, _, _ := m.Registers()
	short := a < 4
	switch {
	case m.A == ir.F64:
		return opDMMA
	case m.D == ir.S32 && short:
		return opIMMASHORT
	case m.D == ir.S32:
		return opIMMA
	case m.D == ir.F16 && short:
		return opHMMASHORT
	case m.D == ir.F16:
		return opHMMA
	case short:
		return opHMMASINGLESHORT
	}
	return opHMMASINGLE
}

// share is the i-th of so many parts of an operand.
func share(a arg, of, i int) arg {
	if a.kind != argValue {
		return a
	}
	a.n /= uint8(of)
	a.w += uint8(i) * a.n
	return a
}

// results is where a product's results go; false when they need not be copied from there.
func (s *selector) results(n *node, per uint8) (arg, bool) {
	ops := make([]ir.Operand, len(n.dst))
	for i, d := range n.dst {
		if d < 0 {
			return s.temp(per * uint8(len(n.dst))), true
		}
		ops[i] = ir.Operand{Kind: ir.OperandReg, Reg: ir.Reg(d), Var: -1, Param: -1}
	}
	if at, ok := s.bound(ops, per); ok {
		return at, false
	}
	return s.temp(per * uint8(len(n.dst))), true
}

// fragment is the registers of a fragment. What is not in neighbouring registers is copied, to
// the registers at if there are any: sums go where the results will be.
func (s *selector) fragment(ops []ir.Operand, per uint8, at arg) arg {
	zero := true
	for _, o := range ops {
		zero = zero && s.isZero(o)
	}
	if zero {
		return arg{kind: argZero}
	}
	if len(ops) == 1 && per == 1 {
		return s.word(ops[0], 0)
	}
	if len(ops) == 1 {
		return s.pair(ops[0])
	}
	if a, ok := s.bound(ops, per); ok {
		s.wantAll(ops)
		return a
	}
	if at.kind != argValue {
		at = s.temp(per * uint8(len(ops)))
	}
	for i, o := range ops {
		for w := range per {
			s.emit(opMOV, valueArg(at.v, at.w+uint8(i)*per+w, 1), s.mixOne(o, w))
		}
	}
	return at
}

// isZero says of an operand that it is nothing but zero.
func (s *selector) isZero(o ir.Operand) bool {
	if o.Kind == ir.OperandReg {
		d := s.f.defOf(value(o.Reg))
		return d != nil && setsConstant(d) && d.guard == noValue && d.src[0].Imm == 0
	}
	return o.Kind == ir.OperandImm && o.Imm == 0
}
