package lower

import (
	"fmt"
	"github.com/warptune/warptune/simengine/ir"
	"slices"
)

// lowerParams removes the .param variables of the calls that were inlined.
// One that is only read and written at fixed places becomes a register for
// each place; any other becomes local memory.
func (b *kernelBuilder) lowerParams() {
	first := len(b.mb.out.Vars)
	own := b.k.Vars[first:]
	if !slices.ContainsFunc(own, func(v ir.Var) bool { return v.Space == ir.ParamSpace }) {
		return
	}
	l := &paramLowering{b: b, first: int32(first), vars: make([]paramVar, len(own))}
	for i := range own {
		l.vars[i].param = own[i].Space == ir.ParamSpace
	}
	for i := range b.list {
		l.scan(&b.list[i])
	}
	for i := range own {
		p := &l.vars[i]
		if p.settle(); p.param && p.memory {
			own[i].Space = ir.Local
			own[i].Offset = b.area.take(ir.Local, own[i].Size, own[i].Align)
		}
	}
	l.rewrite()
	l.dropVars()
}

// paramVar is what is known of one variable.
type paramVar struct {
	param  bool // it is in the parameter space
	memory bool // its address is taken or its accesses overlap
	fields []field
}

// field is a part of a parameter: every write covers it, every read starts
// where it starts.
type field struct {
	off, size int // size is that of the widest access
	stored    int // size of the narrowest write
	reg       ir.Reg
}

type paramLowering struct {
	b     *kernelBuilder
	first int32 // index of vars[0] in Kernel.Vars
	vars  []paramVar
}

// access returns the variable that a load or store of parameter space names.
func (l *paramLowering) access(in *ir.Instr) *paramVar {
	if in.Op != ir.Ld && in.Op != ir.St || in.Space != ir.ParamSpace || in.Src[0].Var < l.first {
		return nil
	}
	return &l.vars[in.Src[0].Var-l.first]
}

func (l *paramLowering) scan(in *ir.Instr) {
	p := l.access(in)
	for i := range in.Src {
		if o := &in.Src[i]; o.Var >= l.first && (i > 0 || p == nil) {
			l.vars[o.Var-l.first].memory = true
		}
	}
	if p == nil {
		return
	}
	size := in.Type.Size()
	if in.Src[0].Reg != ir.NoReg || size > 8 {
		p.memory = true
		return
	}
	for i := range int(in.Vec) {
		p.touch(int(in.Src[0].Imm)+i*size, size, in.Op == ir.St)
	}
}

// touch notes an access.
func (p *paramVar) touch(off, size int, store bool) {
	stored := 8
	if store {
		stored = size
	}
	for i := range p.fields {
		if f := &p.fields[i]; f.off == off {
			// Compilers pass 8 and 16 bits as 32; other accesses of two sizes
			// have no register form.
			p.memory = p.memory || size != f.size && min(size, f.size) > 2
			f.size, f.stored = max(f.size, size), min(f.stored, stored)
			return
		}
	}
	p.fields = append(p.fields, field{off: off, size: size, stored: stored, reg: ir.NoReg})
}

// settle makes a variable memory when its fields overlap or a write covers
// only part of one.
func (p *paramVar) settle() {
	slices.SortFunc(p.fields, func(a, b field) int { return a.off - b.off })
	for i, f := range p.fields {
		p.memory = p.memory || f.stored < f.size || i > 0 && p.fields[i-1].off+p.fields[i-1].size > f.off
	}
}

// rewrite replaces the accesses, and keeps the labels in step.
func (l *paramLowering) rewrite() {
	b := l.b
	old := b.list
	b.list = make([]ir.Instr, 0, len(old)+16)
	moved := make([]int, len(old)+1)
	for i := range old {
		moved[i] = len(b.list)
		in := old[i]
		p := l.access(&in)
		switch {
		case p == nil:
			b.list = append(b.list, in)
		case p.memory:
			in.Space = ir.Local
			b.list = append(b.list, in)
		default:
			l.moves(&in, p)
		}
	}
	moved[len(old)] = len(b.list)
	for i := range b.labels {
		if pc := b.labels[i].pc; pc >= 0 {
			b.labels[i].pc = moved[pc]
		}
	}
	for i := range b.list {
		if in := &b.list[i]; in.Space == ir.ParamSpace && in.Op == ir.Cvta && len(in.Src) > 0 && in.Src[0].Var >= l.first {
			in.Space = ir.Local
		}
	}
}

// moves emits the register moves that stand for one access.
func (l *paramLowering) moves(in *ir.Instr, p *paramVar) {
	b, size := l.b, in.Type.Size()
	for i := range int(in.Vec) {
		f := l.fieldReg(p, int(in.Src[0].Imm)+i*size, in)
		to, from := f, ir.Operand{}
		if in.Op == ir.Ld {
			if in.Dst[i] == ir.NoReg {
				continue
			}
			to, from = in.Dst[i], ir.RegOperand(f)
		} else {
			from = in.Src[1+i]
		}
		b.dst, b.src = append(b.dst[:0], to), append(b.src[:0], from)
		m := ir.Instr{Op: ir.Mov, Type: ir.BitsOf(b.k.Regs[to].Type.Size()), Guard: in.Guard, GuardNot: in.GuardNot, Target: -1, Pos: in.Pos}
		if src := l.narrow(in, from, b.k.Regs[to].Type.Size()); src != ir.TypeInvalid {
			m.Op, m.Type, m.SrcType = ir.Cvt, ir.UnsignedOf(m.Type.Size()), src
			if src.IsSigned() {
				m.Type = ir.S16 + (m.Type - ir.U16)
			}
		}
		m.Dst, m.Src = b.cut()
		b.emit(m)
	}
}

// narrow is the source type of the conversion a move needs, TypeInvalid for a
// plain move: a load takes the low bits and extends them to the register, a
// store drops what the field does not hold.
func (l *paramLowering) narrow(in *ir.Instr, from ir.Operand, to int) ir.Type {
	if from.Kind != ir.OperandReg {
		return ir.TypeInvalid
	}
	size := l.b.k.Regs[from.Reg].Type.Size()
	if in.Op == ir.St {
		if size == to {
			return ir.TypeInvalid
		}
		return ir.UnsignedOf(size)
	}
	if n := in.Type.Size(); n < to || size > to {
		if in.Type.IsSigned() {
			return ir.S8 + (ir.UnsignedOf(n) - ir.U8)
		}
		return ir.UnsignedOf(n)
	}
	return ir.TypeInvalid
}

// fieldReg is the register of a field, made on first use; registers have at
// least 16 bits.
func (l *paramLowering) fieldReg(p *paramVar, off int, in *ir.Instr) ir.Reg {
	for i := range p.fields {
		f := &p.fields[i]
		if f.off != off {
			continue
		}
		if f.reg == ir.NoReg {
			name := fmt.Sprintf("%s+%d", l.b.k.Vars[in.Src[0].Var].Name, off)
			f.reg = l.b.newReg(name, ir.BitsOf(max(2, f.size)))
		}
		return f.reg
	}
	panic("ir: parameter field vanished")
}

// dropVars removes the variables that became registers.
func (l *paramLowering) dropVars() {
	b := l.b
	at := make([]int32, len(l.vars))
	kept := b.k.Vars[:l.first]
	for i, p := range l.vars {
		at[i] = int32(len(kept))
		if !p.param || p.memory {
			kept = append(kept, b.k.Vars[int(l.first)+i])
		}
	}
	b.k.Vars = kept
	for i := range b.list {
		for j := range b.list[i].Src {
			if o := &b.list[i].Src[j]; o.Var >= l.first {
				o.Var = at[o.Var-l.first]
			}
		}
	}
	if d := b.k.DynamicShared; d >= int(l.first) {
		b.k.DynamicShared = int(at[d-int(l.first)])
	}
}
