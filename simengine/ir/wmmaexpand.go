package ir

// wmma builds what a wmma instruction is made of.
func (b *kernelBuilder) wmma(s *site) {
	e := expansion{b: b, s: s, w: s.shape.wm, lane: NoReg}
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
	regs []Reg   // the fragment
	at   Operand // the matrix's first element
	ld   Operand // elements from one row, or column, to the next
	lane Reg
}

// registers reads operand i, the registers of a fragment of elements of a type.
func (e *expansion) registers(i int, what byte, t Type) bool {
	e.s.arg = i
	if !e.b.fragment(e.s, e.w.registers(what), registerOf(t), true) {
		return false
	}
	e.regs = append([]Reg(nil), e.b.dst...)
	e.b.dst = e.b.dst[:0]
	for _, r := range e.regs {
		if r == NoReg {
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
	if e.at.Reg == NoReg && e.at.Var < 0 {
		e.b.errorf(e.s.in.Args[i].At, "%s: a matrix needs a register or a variable as its address", e.s.what())
		return false
	}
	return true
}

// in is the instruction in a state space: a generic access to a variable is one to the
// variable's.
func (e *expansion) in(space Space) *wmma {
	w := *e.w
	w.space = space
	return &w
}

// leading reads operand i, which may be missing: the matrix is packed then, with so many
// columns or rows.
func (e *expansion) leading(i, cols, rows int) bool {
	if i >= len(e.s.in.Args) {
		e.ld = ImmOperand(uint64(rows))
		if e.w.row {
			e.ld = ImmOperand(uint64(cols))
		}
		return true
	}
	e.s.arg = i + 1
	v, ok := e.b.value(e.s, &e.s.in.Args[i], U32, false)
	e.ld = v
	return ok
}

// emit writes an instruction under the guard of the wmma.
func (e *expansion) emit(in Instr, dst []Reg, src ...Operand) {
	in.Guard, in.GuardNot, in.Target, in.Pos = e.s.out.Guard, e.s.out.GuardNot, -1, e.s.out.Pos
	e.b.dst, e.b.src = append(e.b.dst[:0], dst...), append(e.b.src[:0], src...)
	in.Dst, in.Src = e.b.cut()
	e.b.emit(in)
}

// temp is a new register; compute writes one.
func (e *expansion) temp(t Type) Reg { return e.b.newReg("wmma", t) }

func (e *expansion) compute(in Instr, src ...Operand) Operand {
	t := in.Type
	if in.Mod&ModWide != 0 {
		t = t.Wide()
	}
	r := e.temp(t)
	e.emit(in, []Reg{r}, src...)
	return RegOperand(r)
}

// laneBits is some bits of the lane's number, moved: (lane >> shift & mask) << left.
func (e *expansion) laneBits(shift, mask, left uint64) Operand {
	if e.lane == NoReg {
		e.lane = e.temp(U32)
		e.emit(Instr{Op: Mov, Type: U32}, []Reg{e.lane}, Operand{Kind: OperandSpecial, Reg: NoReg, Var: -1, Param: -1, Special: LaneID})
	}
	v := RegOperand(e.lane)
	if shift > 0 {
		v = e.compute(Instr{Op: Shr, Type: U32}, v, ImmOperand(shift))
	}
	if mask < 31>>shift {
		v = e.compute(Instr{Op: And, Type: B32}, v, ImmOperand(mask))
	}
	if left > 0 {
		v = e.compute(Instr{Op: Shl, Type: B32}, v, ImmOperand(left))
	}
	return v
}

// offset is the address of the element so many steps of the leading dimension and so many
// elements from the first.
func (e *expansion) offset(steps, elements Operand) Operand {
	n := e.compute(Instr{Op: Mad, Type: U32, Mod: ModLo}, steps, e.ld, elements)
	return e.advance(n, ImmOperand(uint64(e.w.a.Size())))
}

// advance is the matrix's address, so many times some bytes further on.
func (e *expansion) advance(n, bytes Operand) Operand {
	base := e.at
	wide := base.Reg != NoReg && e.b.k.Regs[base.Reg].Type.Size() == 8
	var v Operand
	switch {
	case base.Reg == NoReg: // of a variable, whose address is an immediate
		t := U32
		if e.w.space != Shared {
			t = U64
		}
		m := Instr{Op: Mul, Type: U32, Mod: ModLo}
		if t == U64 {
			m.Mod = ModWide
		}
		at := Operand{Kind: OperandVar, Reg: NoReg, Var: base.Var, Param: -1}
		v = e.compute(Instr{Op: Add, Type: t}, e.compute(m, n, bytes), at)
	case wide:
		v = e.compute(Instr{Op: Mad, Type: U32, Mod: ModWide}, n, bytes, RegOperand(base.Reg))
	default:
		v = e.compute(Instr{Op: Mad, Type: U32, Mod: ModLo}, n, bytes, RegOperand(base.Reg))
	}
	return Operand{Kind: OperandAddr, Reg: v.Reg, Var: -1, Param: -1, Imm: base.Imm}
}

// beyond is an address so many steps of the leading dimension further on.
func (e *expansion) beyond(a Operand, steps int) Operand {
	if steps == 0 {
		return a
	}
	by := uint64(steps * e.w.a.Size())
	if e.ld.Kind == OperandImm {
		a.Imm += e.ld.Imm * by
		return a
	}
	kept := e.at
	e.at = a
	a = e.advance(e.ld, ImmOperand(by))
	e.at = kept
	return a
}

func plus(a Operand, bytes int) Operand {
	a.Imm += uint64(bytes)
	return a
}
