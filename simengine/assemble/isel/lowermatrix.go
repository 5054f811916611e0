package isel

import (
	"github.com/warptune/warptune/simengine/assemble/hir"
	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/assemble/vreg"
	"github.com/warptune/warptune/simengine/ir"
)

// lowerMma lowers a product of matrices to HMMA, IMMA or DMMA, one or, where the tensor cores
// of a generation take fewer rows or less depth at a time, several.
func (s *selector) lowerMma(n *hir.Node) error {
	step, err := s.hir.Target.MMAShape(n.Matrix)
	if err != nil {
		return err
	}
	op, per := mmaOp(&step), uint8(1)
	if op == mir.OpDMMA {
		per = 2
	}
	d, copied := s.mmaResults(n, per)
	_, _, sum := fragments(n)
	fa, fb, _ := fragments(n)
	c := s.fragment(sum, per, d)
	a, b := s.fragment(fa, per, mir.Arg{}), s.fragment(fb, per, mir.Arg{})
	rows, deep := n.Matrix.M/step.M, n.Matrix.K/step.K
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
		s.unpackVector(n.Dst, d)
	}
	return nil
}

// mmaOp is the instruction for a shape.
func mmaOp(m *ir.Matrix) mir.Op {
	a, _, _ := m.Registers()
	short := a < 4
	switch {
	case m.A == ir.F64:
		return mir.OpDMMA
	case m.D == ir.S32 && short:
		return mir.OpIMMASHORT
	case m.D == ir.S32:
		return mir.OpIMMA
	case m.D == ir.F16 && short:
		return mir.OpHMMASHORT
	case m.D == ir.F16:
		return mir.OpHMMA
	case short:
		return mir.OpHMMASINGLESHORT
	}
	return mir.OpHMMASINGLE
}

// share is the i-th of so many parts of an operand.
func share(a mir.Arg, of, i int) mir.Arg {
	if a.Kind != mir.ArgValue {
		return a
	}
	a.N /= uint8(of)
	a.Word += uint8(i) * a.N
	return a
}

// mmaResults is where a product's results go; false when they need not be copied from there.
func (s *selector) mmaResults(n *hir.Node, per uint8) (mir.Arg, bool) {
	ops := make([]ir.Operand, len(n.Dst))
	for i, d := range n.Dst {
		if d < 0 {
			return s.temp(per * uint8(len(n.Dst))), true
		}
		ops[i] = ir.Operand{Kind: ir.OperandReg, Reg: ir.Reg(d), Var: -1, Param: -1}
	}
	if at, ok := s.bound(ops, per); ok {
		return at, false
	}
	return s.temp(per * uint8(len(n.Dst))), true
}

// fragment is the registers of a fragment. What is not in neighbouring registers is copied, to
// the registers at if there are any: sums go where the results will be.
func (s *selector) fragment(ops []ir.Operand, per uint8, at mir.Arg) mir.Arg {
	zero := true
	for _, o := range ops {
		zero = zero && s.isZero(o)
	}
	if zero {
		return mir.Arg{Kind: mir.ArgZero}
	}
	if len(ops) == 1 && per == 1 {
		return s.word(ops[0], 0)
	}
	if len(ops) == 1 {
		return s.pair(ops[0])
	}
	if a, ok := s.bound(ops, per); ok {
		s.demandAll(ops)
		return a
	}
	if at.Kind != mir.ArgValue {
		at = s.temp(per * uint8(len(ops)))
	}
	for i, o := range ops {
		for w := range per {
			s.emit(mir.OpMOV, mir.ValueWords(at.Value, at.Word+uint8(i)*per+w, 1), s.mixOne(o, w))
		}
	}
	return at
}

// isZero says of an operand that it is nothing but zero.
func (s *selector) isZero(o ir.Operand) bool {
	if o.Kind == ir.OperandReg {
		d := s.hir.DefOf(vreg.Value(o.Reg))
		return d != nil && hir.SetsConstant(d) && d.Guard == vreg.None && d.Src[0].Imm == 0
	}
	return o.Kind == ir.OperandImm && o.Imm == 0
}
