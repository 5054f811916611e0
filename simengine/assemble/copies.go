package assemble

import "github.com/warptune/warptune/simengine/ir"

// resolve follows copies from one operand. In an address operand only the base
// register is followed, and constant parts are collected into the offset.
func (f *hfn) resolve(user *node, o *ir.Operand) {
	for range 64 {
		if (o.Kind != ir.OperandReg && o.Kind != ir.OperandAddr) || o.Reg == ir.NoReg {
			return
		}
		d := f.defOf(value(o.Reg))
		if d == nil || d.guard != noValue || len(d.dst) != 1 || len(d.src) == 0 {
			return
		}
		s := &d.src[0]
		switch {
		case d.op == ir.Mov && len(d.src) == 1, d.op == ir.Cvta:
			if !f.replaceable(o, s) {
				return
			}
			switch {
			case o.Kind == ir.OperandReg && s.Kind == ir.OperandReg:
				o.Reg = s.Reg
				o.Not = o.Not != s.Not
			case o.Kind == ir.OperandReg:
				*o = *s
			case s.Kind == ir.OperandReg:
				o.Reg = s.Reg
			case s.Kind == ir.OperandImm:
				o.Reg, o.Imm = ir.NoReg, o.Imm+s.Imm
			default: // the address of a variable
				o.Reg, o.Var, o.Imm = ir.NoReg, s.Var, o.Imm+s.Imm
			}
		case o.Kind == ir.OperandReg && f.negates(d):
			o.Reg, o.Not = s.Reg, o.Not == s.Not
		case o.Kind == ir.OperandAddr && d.op == ir.Add && len(d.src) == 2 && words(d.typ) == 2:
			f.resolve(d, &d.src[0])
			f.resolve(d, &d.src[1])
			a, c := &d.src[0], &d.src[1]
			if a.Kind == ir.OperandImm {
				a, c = c, a
			}
			if c.Kind != ir.OperandImm || a.Kind != ir.OperandReg || f.vals[a.Reg].defs != 1 {
				return
			}
			o.Reg, o.Imm = a.Reg, o.Imm+c.Imm
		default:
			return
		}
	}
}

// resolveGuard follows negations from a node's guard.
func (f *hfn) resolveGuard(n *node) {
	for n.guard != noValue {
		d := f.defOf(n.guard)
		if !f.negates(d) {
			return
		}
		n.guard, n.gnot = value(d.src[0].Reg), n.gnot == d.src[0].Not
	}
}

// negates says that a node is nothing but the negation of a predicate.
func (f *hfn) negates(d *node) bool {
	return d != nil && d.op == ir.Not && d.typ == ir.Pred && d.guard == noValue && len(d.dst) == 1 && d.src[0].Kind == ir.OperandReg && f.vals[d.src[0].Reg].defs == 1
}

// replaceable says whether an operand that names a copy may name the source.
func (f *hfn) replaceable(o, s *ir.Operand) bool {
	switch s.Kind {
	case ir.OperandReg:
		return f.vals[s.Reg].defs <= 1 && f.vals[s.Reg].words == f.vals[o.Reg].words && !(o.Kind == ir.OperandAddr && s.Not)
	case ir.OperandImm:
		return true
	case ir.OperandVar:
		return o.Kind == ir.OperandReg || o.Var < 0 && o.Param < 0
	}
	return false
}
