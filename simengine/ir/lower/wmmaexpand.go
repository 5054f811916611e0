package lower

import "github.com/warptune/warptune/simengine/ir"

// wmma builds what a wmma instruction is made of.
func (b *kernelBuilder) wmma(s *site) {
	e := expansion{b: b, s: s, w: s.shape.wm, lane: ir.NoReg}
	switch e.w.what {
	case 'm':
		e.product()
	case 'd':
		if b.count(s, 2, 3) && e.address(0) && e.registers(1, 'd', e.w.d) && e.leading(2, e.w.n, e.w.m) {
			e.results(false)
		}
	default:
		if !b.count(s, 2, 3) || !e.registers(0, e.w.what, e.w.a) || !e.address(1) {
			return
		}
		switch {
		case e.w.what == 'c':
			if e.leading(2, e.w.n, e.w.m) {
				e.results(true)
			}
		case e.w.what == 'a' && e.leading(2, e.w.k, e.w.m), e.w.what == 'b' && e.leading(2, e.w.n, e.w.k):
			e.factor()
		}
	}
}

// expansion writes the instructions that a wmma instruction stands for.
type expansion struct {
	b    *kernelBuilder
	s    *site
	w    *wmma
	regs []ir.Reg   // the fragment
	at   ir.Operand // the matrix's first element
	ld   ir.Operand // elements from one row, or column, to the next
	lane ir.Reg
}

// registers reads operand i, the registers of a fragment of elements of a type.
func (e *expansion) registers(i int, what byte, t ir.Type) bool {
	e.s.arg = i
	if !e.b.fragment(e.s, e.w.registers(what), ir.RegisterOf(t), true) {
		return false
	}
	e.regs = append([]ir.Reg(nil), e.b.dst...)
	e.b.dst = e.b.dst[:0]
	for _, r := range e.regs {
		if r == ir.NoReg {
			e.b.errorf(e.s.in.At, "%s: fragments have no place for _", e.s.in.Op)
			return false
		}
	}
	return true
}

// address reads operand i, a memory address.
func (e *expansion) address(i int) bool {
	e.s.arg = i + 1
	space := e.w.space
	if !e.b.address(e.s, &e.s.in.Args[i], &space) {
		return false
	}
	e.at, e.w = e.b.src[0], e.in(space)
	e.b.src = e.b.src[:0]
	if e.at.Reg == ir.NoReg && e.at.Var < 0 {
		e.b.errorf(e.s.in.Args[i].At, "%s: a matrix needs a register or a variable as its address", e.s.what())
		return false
	}
	return true
}

// in is the instruction in a state space: a generic access to a variable is one to the
// variable's.
func (e *expansion) in(space ir.Space) *wmma {
	w := *e.w
	w.space = space
	return &w
}

// leading reads operand i, which may be missing: the matrix is packed then, with so many
// columns or rows.
func (e *expansion) leading(i, cols, rows int) bool {
	if i >= len(e.s.in.Args) {
		e.ld = ir.ImmOperand(uint64(rows))
		if e.w.row {
			e.ld = ir.ImmOperand(uint64(cols))
		}
		return true
	}
	e.s.arg = i + 1
	v, ok := e.b.value(e.s, &e.s.in.Args[i], ir.U32, false)
	e.ld = v
	return ok
}

// emit writes an instruction under the guard of the wmma.
func (e *expansion) emit(in ir.Instr, dst []ir.Reg, src ...ir.Operand) {
	in.Guard, in.GuardNot, in.Target, in.Pos = e.s.out.Guard, e.s.out.GuardNot, -1, e.s.out.Pos
	e.b.dst, e.b.src = append(e.b.dst[:0], dst...), append(e.b.src[:0], src...)
	in.Dst, in.Src = e.b.cut()
	e.b.emit(in)
}

// temp is a new register; compute writes one.
func (e *expansion) temp(t ir.Type) ir.Reg { return e.b.newReg("wmma", t) }

func (e *expansion) compute(in ir.Instr, src ...ir.Operand) ir.Operand {
	t := in.Type
	if in.Mod&ir.ModWide != 0 {
		t = t.Wide()
	}
	r := e.temp(t)
	e.emit(in, []ir.Reg{r}, src...)
	return ir.RegOperand(r)
}

// laneBits is some bits of the lane's number, moved: (lane >> shift & mask) << left.
func (e *expansion) laneBits(shift, mask, left uint64) ir.Operand {
	if e.lane == ir.NoReg {
		e.lane = e.temp(ir.U32)
		e.emit(ir.Instr{Op: ir.Mov, Type: ir.U32}, []ir.Reg{e.lane}, ir.Operand{Kind: ir.OperandSpecial, Reg: ir.NoReg, Var: -1, Param: -1, Special: ir.LaneID})
	}
	v := ir.RegOperand(e.lane)
	if shift > 0 {
		v = e.compute(ir.Instr{Op: ir.Shr, Type: ir.U32}, v, ir.ImmOperand(shift))
	}
	if mask < 31>>shift {
		v = e.compute(ir.Instr{Op: ir.And, Type: ir.B32}, v, ir.ImmOperand(mask))
	}
	if left > 0 {
		v = e.compute(ir.Instr{Op: ir.Shl, Type: ir.B32}, v, ir.ImmOperand(left))
	}
	return v
}

// offset is the address of the element so many steps of the leading dimension and so many
// elements from the first.
func (e *expansion) offset(steps, elements ir.Operand) ir.Operand {
	n := e.compute(ir.Instr{Op: ir.Mad, Type: ir.U32, Mod: ir.ModLo}, steps, e.ld, elements)
	return e.advance(n, ir.ImmOperand(uint64(e.w.a.Size())))
}

// advance is the matrix's address, so many times some bytes further on.
func (e *expansion) advance(n, bytes ir.Operand) ir.Operand {
	base := e.at
	wide := base.Reg != ir.NoReg && e.b.k.Regs[base.Reg].Type.Size() == 8
	var v ir.Operand
	switch {
	case base.Reg == ir.NoReg: // of a variable, whose address is an immediate
		t := ir.U32
		if e.w.space != ir.Shared {
			t = ir.U64
		}
		m := ir.Instr{Op: ir.Mul, Type: ir.U32, Mod: ir.ModLo}
		if t == ir.U64 {
			m.Mod = ir.ModWide
		}
		at := ir.Operand{Kind: ir.OperandVar, Reg: ir.NoReg, Var: base.Var, Param: -1}
		v = e.compute(ir.Instr{Op: ir.Add, Type: t}, e.compute(m, n, bytes), at)
	case wide:
		v = e.compute(ir.Instr{Op: ir.Mad, Type: ir.U32, Mod: ir.ModWide}, n, bytes, ir.RegOperand(base.Reg))
	default:
		v = e.compute(ir.Instr{Op: ir.Mad, Type: ir.U32, Mod: ir.ModLo}, n, bytes, ir.RegOperand(base.Reg))
	}
	return ir.Operand{Kind: ir.OperandAddr, Reg: v.Reg, Var: -1, Param: -1, Imm: base.Imm}
}

// beyond is an address so many steps of the leading dimension further on.
func (e *expansion) beyond(a ir.Operand, steps int) ir.Operand {
	if steps == 0 {
		return a
	}
	by := uint64(steps * e.w.a.Size())
	if e.ld.Kind == ir.OperandImm {
		a.Imm += e.ld.Imm * by
		return a
	}
	kept := e.at
	e.at = a
	a = e.advance(e.ld, ir.ImmOperand(by))
	e.at = kept
	return a
}

func plus(a ir.Operand, bytes int) ir.Operand {
	a.Imm += uint64(bytes)
	return a
}
