package lower

import (
	"fmt"

	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/ptx"
)

// reg finds the register that o names; role is for the message, "" for an
// operand by its number.
func (b *kernelBuilder) reg(s *site, o *ptx.Operand, role string) (ir.Reg, bool) {
	var sym symbol
	found := false
	if o.Kind == ptx.Name && !o.Not {
		if sym, found = b.lookup(o.Text); found && sym.kind == symReg {
			return ir.Reg(sym.index), true
		}
	}
	if role == "" {
		role = s.what()
	}
	switch {
	case o.Kind != ptx.Name || o.Not:
		b.errorf(o.At, "%s must be a register", role)
	case found && sym.kind == symVector:
		b.errorf(o.At, "%s: %s is a vector of %d registers", role, o.Text, sym.n)
	case found:
		b.errorf(o.At, "%s: %s is a variable, want a register", role, o.Text)
	case isSpecial(o.Text):
		b.errorf(o.At, "%s: special register %s cannot be used here", role, o.Text)
	default:
		b.errorf(o.At, "%s: register %s is not declared", role, o.Text)
	}
	return ir.NoReg, false
}

// what names the operand being read, for messages.
func (s *site) what() string { return fmt.Sprintf("operand %d of %s", s.arg, s.in.Op) }

// dest reads a destination register, or "_".
func (b *kernelBuilder) dest(s *site, o *ptx.Operand, t ir.Type, relaxed bool) bool {
	if o.Kind == ptx.Name && o.Text == "_" {
		b.dst = append(b.dst, ir.NoReg)
		return true
	}
	r, ok := b.reg(s, o, "")
	if !ok {
		return false
	}
	if rt := b.k.Regs[r].Type; !accepts(t, rt, relaxed) {
		b.errorf(o.At, "%s: register %s is .%s, want .%s", s.what(), o.Text, rt, t)
		return false
	}
	b.dst = append(b.dst, r)
	return true
}

// pair reads d or d|p.
func (b *kernelBuilder) pair(s *site, o *ptx.Operand, t ir.Type) bool {
	if o.Kind != ptx.Pair {
		return b.dest(s, o, t, false)
	}
	return b.dest(s, &o.Elems[0], t, false) && b.dest(s, &o.Elems[1], ir.Pred, false)
}

// immediate reads an integer constant.
func (b *kernelBuilder) immediate(s *site, o *ptx.Operand) bool {
	c, problem := evalConst(o)
	if problem == "" && c.float {
		problem = "a floating-point constant"
	}
	if problem != "" {
		b.errorf(o.At, "%s: %s, want an integer constant", s.what(), problem)
		return false
	}
	b.src = append(b.src, ir.ImmOperand(c.bits))
	return true
}

// source reads a source operand of type t.
func (b *kernelBuilder) source(s *site, o *ptx.Operand, t ir.Type, relaxed bool) bool {
	v, ok := b.value(s, o, t, relaxed)
	if ok {
		b.src = append(b.src, v)
	}
	return ok
}

// value is the operand o as a value of type t.
func (b *kernelBuilder) value(s *site, o *ptx.Operand, t ir.Type, relaxed bool) (ir.Operand, bool) {
	if o.Kind == ptx.Name && o.Text != "WARP_SZ" || o.Kind == ptx.Sum || o.Kind == ptx.Index {
		return b.named(s, o, t, relaxed)
	}
	switch o.Kind {
	case ptx.Vector, ptx.Address, ptx.Pair, ptx.Group:
		b.errorf(o.At, "%s: a register or constant is wanted", s.what())
		return ir.Operand{}, false
	}
	c, problem := evalConst(o)
	var bits uint64
	if problem == "" {
		bits, problem = c.as(t)
	}
	if problem != "" {
		b.errorf(o.At, "%s: %s", s.what(), problem)
		return ir.Operand{}, false
	}
	return ir.ImmOperand(bits), true
}

// named is an operand that is a register, special register or address.
func (b *kernelBuilder) named(s *site, o *ptx.Operand, t ir.Type, relaxed bool) (ir.Operand, bool) {
	base, off, ok := b.split(s, o)
	if !ok {
		return ir.Operand{}, false
	}
	sym, found := b.lookup(base.Text)
	switch {
	case found && sym.kind == symReg && base == o:
		v := ir.RegOperand(ir.Reg(sym.index))
		v.Not = o.Not
		rt := b.k.Regs[v.Reg].Type
		if !accepts(t, rt, relaxed) {
			b.errorf(o.At, "%s: register %s is .%s, want .%s", s.what(), o.Text, rt, t)
			return v, false
		}
		if o.Not && rt != ir.Pred {
			b.errorf(o.At, "%s: '!' wants a predicate", s.what())
			return v, false
		}
		return v, true
	case found && (sym.kind == symVar || sym.kind == symParam):
		if class(t)&1 == 0 || t.Size() < 4 {
			b.errorf(o.At, "%s: address of %s does not fit .%s", s.what(), base.Text, t)
			return ir.Operand{}, false
		}
		return b.addressOf(sym, off), true
	case !found && base == o:
		return b.specialOrUnknown(s, o)
	}
	b.errorf(o.At, "%s: %s is not a variable", s.what(), base.Text)
	return ir.Operand{}, false
}

// addressOf is the address of a variable or parameter as a value. That of a kernel's parameter is a
// constant.
func (b *kernelBuilder) addressOf(sym symbol, off uint64) ir.Operand {
	if sym.kind == symParam {
		return ir.ImmOperand(uint64(b.k.Params[sym.index].Offset) + off)
	}
	return ir.Operand{Kind: ir.OperandVar, Reg: ir.NoReg, Var: sym.index, Param: -1, Imm: off}
}

// split takes base+offset and base[index] apart.
func (b *kernelBuilder) split(s *site, o *ptx.Operand) (base *ptx.Operand, off uint64, ok bool) {
	if o.Kind != ptx.Sum && o.Kind != ptx.Index {
		return o, 0, true
	}
	base, off, ok = b.split(s, &o.Elems[0])
	if !ok {
		return
	}
	c, problem := evalConst(&o.Elems[1])
	if problem == "" && c.float {
		problem = "a floating-point offset"
	}
	if problem != "" {
		b.errorf(o.Elems[1].At, "%s: %s", s.what(), problem)
		return base, 0, false
	}
	d := c.bits
	if o.Kind == ptx.Index {
		d *= uint64(b.elemSize(base))
	}
	if o.Text == "-" {
		d = -d
	}
	return base, off + d, true
}

// elemSize is the element size of the array that o names, 1 when it is none.
func (b *kernelBuilder) elemSize(o *ptx.Operand) int {
	if sym, ok := b.lookup(o.Text); ok {
		switch sym.kind {
		case symVar:
			return b.k.Vars[sym.index].Elem.Size()
		case symParam:
			return b.k.Params[sym.index].Type.Size()
		}
	}
	return 1
}

// specialOrUnknown is the operand for a name that was not declared.
func (b *kernelBuilder) specialOrUnknown(s *site, o *ptx.Operand) (ir.Operand, bool) {
	if sp := ir.SpecialNamed(o.Text); sp != ir.SpecialNone {
		return ir.Operand{Kind: ir.OperandSpecial, Reg: ir.NoReg, Var: -1, Param: -1, Special: sp}, true
	}
	switch {
	case isSpecial(o.Text):
		b.refuse(o.At, "special register "+o.Text)
	case b.mb.funcs[o.Text] != nil:
		b.refuse(o.At, "the address of function "+o.Text)
	default:
		b.errorf(o.At, "%s: %s is not declared", s.what(), o.Text)
	}
	return ir.Operand{}, false
}

// vector reads the data operand of a load or store: Vec elements.
func (b *kernelBuilder) vector(s *site, o *ptx.Operand, dest bool) bool {
	n, t := int(s.out.Vec), s.shape.Type
	one := func(e *ptx.Operand) bool {
		if dest {
			return b.dest(s, e, t, true)
		}
		return b.source(s, e, t, true)
	}
	if o.Kind == ptx.Name {
		if sym, ok := b.lookup(o.Text); ok && sym.kind == symVector && sym.n == n {
			for i := range n {
				e := ptx.Operand{At: o.At, Kind: ptx.Name, Text: o.Text + "." + "xyzw"[i:i+1]}
				if !one(&e) {
					return false
				}
			}
			return true
		}
	}
	return b.eachOf(s, o, n, one)
}

// eachOf reads each of the n elements of an operand, of which one needs no braces.
func (b *kernelBuilder) eachOf(s *site, o *ptx.Operand, n int, one func(*ptx.Operand) bool) bool {
	elems := []ptx.Operand{*o}
	if o.Kind == ptx.Vector {
		elems = o.Elems
	}
	if len(elems) != n {
		b.errorf(o.At, "%s: %d elements, want %d", s.what(), len(elems), n)
		return false
	}
	for i := range elems {
		if !one(&elems[i]) {
			return false
		}
	}
	return true
}

// address reads a memory operand in space *sp. A generic access to a named
// variable is one to the variable's own space.
func (b *kernelBuilder) address(s *site, o *ptx.Operand, sp *ir.Space) bool {
	if o.Kind != ptx.Address || len(o.Elems) != 1 {
		b.errorf(o.At, "%s: an address in brackets is wanted", s.what())
		return false
	}
	a := ir.Operand{Kind: ir.OperandAddr, Reg: ir.NoReg, Var: -1, Param: -1}
	base, off, ok := b.split(s, &o.Elems[0])
	if !ok {
		return false
	}
	a.Imm = off
	if base.Kind != ptx.Name {
		c, problem := evalConst(base)
		if problem != "" || c.float {
			b.errorf(base.At, "%s: this is no address", s.what())
			return false
		}
		a.Imm += c.bits
		b.src = append(b.src, a)
		return true
	}
	sym, found := b.lookup(base.Text)
	switch {
	case !found:
		b.errorf(base.At, "%s: %s is not declared", s.what(), base.Text)
		return false
	case sym.kind == symReg:
		a.Reg = ir.Reg(sym.index)
		if rt := b.k.Regs[a.Reg].Type; class(rt)&1 == 0 || rt == ir.Pred || rt.Size() < 4 || rt.Size() > 8 {
			b.errorf(base.At, "%s: register %s is .%s, want a 32- or 64-bit address", s.what(), base.Text, rt)
			return false
		}
	case sym.kind == symVar:
		a.Var = sym.index
		return b.inVar(s, base, a, sp)
	case sym.kind == symParam:
		a.Param = sym.index
		return b.inParam(s, base, a, sp)
	default:
		b.errorf(base.At, "%s: %s is no address", s.what(), base.Text)
		return false
	}
	b.src = append(b.src, a)
	return true
}

// inVar checks an address in a variable against the instruction's space.
func (b *kernelBuilder) inVar(s *site, at *ptx.Operand, a ir.Operand, sp *ir.Space) bool {
	v := &b.k.Vars[a.Var]
	if *sp == ir.Generic {
		*sp = v.Space
	}
	if *sp != v.Space && !(*sp == ir.SharedCluster && v.Space == ir.Shared) {
		b.errorf(at.At, "%s: %s is in .%s, not .%s", s.what(), v.Name, v.Space, *sp)
		return false
	}
	if v.Size == 0 && v.Space != ir.Shared {
		b.refuse(at.At, "external variable "+v.Name)
		return false
	}
	b.src = append(b.src, a)
	return true
}

// inParam checks an access to a kernel parameter.
func (b *kernelBuilder) inParam(s *site, at *ptx.Operand, a ir.Operand, sp *ir.Space) bool {
	p := &b.k.Params[a.Param]
	if *sp != ir.ParamSpace {
		b.errorf(at.At, "%s: %s is a parameter: use .param", s.what(), p.Name)
		return false
	}
	width := uint64(s.shape.Type.Size() * max(1, int(s.shape.Vec)))
	if a.Imm+width > uint64(p.Size) || a.Imm+width < width {
		b.errorf(at.At, "%s: bytes %d to %d lie outside parameter %s of %d bytes", s.what(), int64(a.Imm), int64(a.Imm+width), p.Name, p.Size)
		return false
	}
	b.src = append(b.src, a)
	return true
}

// class of a type for matching an operand's type to an instruction's: bit
// strings match everything, integers integers, floats floats (PTX ISA,
// "Operand Type Checking"). Packed and 16-bit floats live in untyped registers.
func class(t ir.Type) uint8 {
	const any, integer, float = 3, 1, 2
	switch t {
	case ir.F32, ir.F64:
		return float
	case ir.U8, ir.U16, ir.U32, ir.U64, ir.S8, ir.S16, ir.S32, ir.S64:
		return integer
	}
	return any
}

// accepts reports whether a register of type r may stand where the instruction
// says t. Loads, stores and conversions are relaxed: the register may be wider.
func accepts(t, r ir.Type, relaxed bool) bool {
	if t == ir.Pred || r == ir.Pred {
		return t == r
	}
	if class(t)&class(r) == 0 {
		return false
	}
	return t.Size() == r.Size() || relaxed && r.Size() > t.Size()
}
