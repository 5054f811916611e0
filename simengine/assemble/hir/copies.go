package hir

import (
	"slices"

	"github.com/warptune/warptune/simengine/assemble/vreg"
	"github.com/warptune/warptune/simengine/ir"
)

// Resolve follows copies from an operand of user. From the base of an address it follows copies and
// additions of constants, which it collects in the offset.
func (f *Func) Resolve(user *Node, o *ir.Operand) {
	for range 64 {
		if (o.Kind != ir.OperandReg && o.Kind != ir.OperandAddr) || o.Reg == ir.NoReg {
			return
		}
		d := f.DefOf(vreg.Value(o.Reg))
		if d == nil || d.Guard != vreg.None || len(d.Src) == 0 {
			return
		}
		if s := f.packed(d, vreg.Value(o.Reg)); s != nil && o.Kind == ir.OperandReg && f.replaceable(o, s) {
			*o = *s
			continue
		}
		if len(d.Dst) != 1 {
			return
		}
		s := &d.Src[0]
		switch {
		case d.Op == ir.Mov && len(d.Src) == 1, d.Op == ir.Cvta:
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
		case o.Kind == ir.OperandAddr && d.Op == ir.Add && len(d.Src) == 2 && Words(d.Type) == 2:
			f.Resolve(d, &d.Src[0])
			f.Resolve(d, &d.Src[1])
			a, c := &d.Src[0], &d.Src[1]
			if a.Kind == ir.OperandImm {
				a, c = c, a
			}
			if c.Kind != ir.OperandImm || a.Kind != ir.OperandReg || f.Values[a.Reg].Defs != 1 {
				return
			}
			o.Reg, o.Imm = a.Reg, o.Imm+c.Imm
		default:
			return
		}
	}
}

// ResolveGuard follows negations from a node's guard.
func (f *Func) ResolveGuard(n *Node) {
	for n.Guard != vreg.None {
		d := f.DefOf(n.Guard)
		if !f.negates(d) {
			return
		}
		n.Guard, n.GuardNot = vreg.Value(d.Src[0].Reg), n.GuardNot == d.Src[0].Not
	}
}

// negates reports whether a node is the negation of a predicate and nothing else.
func (f *Func) negates(d *Node) bool {
	return d != nil && d.Op == ir.Not && d.Type == ir.Pred && d.Guard == vreg.None && len(d.Dst) == 1 && d.Src[0].Kind == ir.OperandReg && f.Values[d.Src[0].Reg].Defs == 1
}

// replaceable reports whether operand o, which names a copy, may name its source s.
func (f *Func) replaceable(o, s *ir.Operand) bool {
	switch s.Kind {
	case ir.OperandReg:
		return f.Values[s.Reg].Defs <= 1 && f.Values[s.Reg].Words == f.Values[o.Reg].Words && !(o.Kind == ir.OperandAddr && s.Not)
	case ir.OperandImm:
		return true
	case ir.OperandVar:
		return o.Kind == ir.OperandReg || o.Var < 0 && o.Param < 0
	}
	return false
}

// packed is the part that v was, if d takes apart what was put together of as many parts; nil: it does not.
func (f *Func) packed(d *Node, v vreg.Value) *ir.Operand {
	if d.Op != ir.Mov || len(d.Dst) < 2 || len(d.Src) != 1 || d.Src[0].Kind != ir.OperandReg {
		return nil
	}
	p := f.DefOf(vreg.Value(d.Src[0].Reg))
	if p == nil || p.Op != ir.Mov || p.Guard != vreg.None || len(p.Src) != len(d.Dst) || Bits(p.Type) != Bits(d.Type) {
		return nil
	}
	return &p.Src[slices.Index(d.Dst, v)]
}
