package lower

import (
	"fmt"

	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/ptx"
)

// callSite is a call with its lists told apart.
type callSite struct {
	rets, args []ptx.Operand
	callee     *ptx.Operand
}

// call inlines a device function.
func (b *kernelBuilder) call(shared *site) {
	own := *shared // the function's instructions are built in the shared one
	s := &own
	c, ok := splitCall(s.in.Args)
	if !ok {
		b.errorf(s.in.At, "malformed call: want call (results), function, (arguments);")
		return
	}
	f := b.callee(s, c)
	if f == nil {
		return
	}
	if len(c.rets) != len(f.Rets) || len(c.args) != len(f.Params) {
		b.errorf(s.in.At, "call of %s passes %d arguments for %d and takes %d results of %d",
			f.Name, len(c.args), len(f.Params), len(c.rets), len(f.Rets))
		return
	}
	after, skip := b.newLabel("", s.in.At), b.newLabel("", s.in.At)
	if s.out.Guard != ir.NoReg {
		b.emit(ir.Instr{Op: ir.Bra, Guard: s.out.Guard, GuardNot: !s.out.GuardNot, Target: skip, Pos: s.out.Pos})
	}
	b.inline++
	inner := newScope(nil)
	inner.suffix = fmt.Sprintf("@%d", b.inline)
	if !b.bind(s, inner, f.Params, c.args, true) || !b.bind(s, inner, f.Rets, c.rets, false) {
		return
	}
	caller, line := b.scope, b.line
	b.scope = inner
	b.frames = append(b.frames, frame{f: f, ret: after})
	b.body(f.Body)
	b.frames = b.frames[:len(b.frames)-1]
	b.scope, b.line = caller, line
	b.dropLastJump(after)
	b.reach(after)
	b.takeResults(s, inner, f.Rets, c.rets)
	b.reach(skip)
}

// dropLastJump removes a jump to the place right behind it: the ret at the end
// of an inlined function.
func (b *kernelBuilder) dropLastJump(after int) {
	n := len(b.list)
	if n == 0 || b.labelAtEnd() {
		return
	}
	if last := &b.list[n-1]; last.Op == ir.Bra && last.Guard == ir.NoReg && last.Target == after {
		b.list = b.list[:n-1]
	}
}

// splitCall tells the forms `(r), f, (a)`, `f, (a)`, `(r), f` and `f` apart; a
// prototype after them belongs to an indirect call.
func splitCall(args []ptx.Operand) (c callSite, ok bool) {
	if len(args) > 0 && args[0].Kind == ptx.Group {
		c.rets, args = args[0].Elems, args[1:]
	}
	if len(args) == 0 || args[0].Kind != ptx.Name {
		return c, false
	}
	c.callee, args = &args[0], args[1:]
	if len(args) > 0 && args[0].Kind == ptx.Group {
		c.args, args = args[0].Elems, args[1:]
	}
	return c, len(args) <= 1
}

// callee finds the function called, or refuses the call.
func (b *kernelBuilder) callee(s *site, c callSite) *ptx.Func {
	name := c.callee.Text
	f := b.mb.funcs[name]
	switch {
	case f == nil:
		if sym, ok := b.lookup(name); ok && sym.kind == symReg {
			b.refuse(s.in.At, "an indirect call through "+name)
			return nil
		}
		b.errorf(c.callee.At, "function %s is not declared", name)
		return nil
	case f.Entry:
		b.refuse(s.in.At, "a call of the kernel "+name)
		return nil
	case f.Body == nil && name == "__assertfail":
		s.out.Op, s.out.Mod, s.out.Target = ir.Trap, 0, -1 // it prints and stops the program
		b.finish(s)
		return nil
	case f.Body == nil && name == "vprintf":
		s.out.Op, s.out.Mod, s.out.Target = ir.Nop, 0, -1 // what a kernel prints is left out
		b.finish(s)
		return nil
	case f.Body == nil:
		b.refuse(s.in.At, "a call of the external function "+name)
		return nil
	}
	for _, fr := range b.frames {
		if fr.f == f {
			b.refuse(s.in.At, "a recursive call of "+name)
			return nil
		}
	}
	return f
}

// bind gives the formal parameters of a call their meaning in the callee's
// scope. A .param formal is the caller's .param variable itself; a .reg formal
// is a register of its own that the argument is moved to.
func (b *kernelBuilder) bind(s *site, inner *scope, formals []*ptx.VarDecl, actuals []ptx.Operand, in bool) bool {
	for i, d := range formals {
		n, actual := &d.Names[0], &actuals[i]
		if d.Space == ".param" && b.isParam(actual) {
			sym, _ := b.lookup(actual.Text)
			inner.set(n.Name, sym)
			continue
		}
		t, size := declType(d)
		if t == ir.TypeInvalid || size != t.Size() || len(n.Dims) > 0 {
			b.errorf(actual.At, "call of %s: argument %d must be a .param variable", s.in.Args[0].Text, i+1)
			return false
		}
		var r ir.Reg
		if d.Space == ".param" { // a register passed for a .param
			v := ir.Var{Name: n.Name + inner.suffix, Space: ir.ParamSpace, Elem: t, Size: size, Align: size, Offset: -1}
			inner.set(n.Name, symbol{kind: symVar, index: int32(len(b.k.Vars))})
			b.k.Vars = append(b.k.Vars, v)
		} else {
			r = b.newReg(n.Name+inner.suffix, t)
			inner.set(n.Name, symbol{kind: symReg, index: int32(r)})
		}
		if in && !b.passArgument(s, inner.names[n.Name], t, actual, i) {
			return false
		}
	}
	return true
}

// isParam reports an argument that is a .param variable of the caller.
func (b *kernelBuilder) isParam(o *ptx.Operand) bool {
	if o.Kind != ptx.Name {
		return false
	}
	sym, ok := b.lookup(o.Text)
	return ok && sym.kind == symVar && b.k.Vars[sym.index].Space == ir.ParamSpace
}

// passArgument moves a register or constant to a formal parameter.
func (b *kernelBuilder) passArgument(s *site, formal symbol, t ir.Type, o *ptx.Operand, i int) bool {
	s.arg = i + 1
	v, ok := b.value(s, o, t, false)
	if !ok {
		return false
	}
	b.dst, b.src = b.dst[:0], b.src[:0]
	if formal.kind == symVar {
		a := ir.Operand{Kind: ir.OperandAddr, Reg: ir.NoReg, Var: formal.index, Param: -1}
		b.src = append(b.src, a, v)
		b.plain(s, ir.Instr{Op: ir.St, Type: t, Space: ir.ParamSpace, Vec: 1})
		return true
	}
	b.dst, b.src = append(b.dst, ir.Reg(formal.index)), append(b.src, v)
	b.plain(s, ir.Instr{Op: ir.Mov, Type: t})
	return true
}

// plain emits an unguarded instruction with the operands read.
func (b *kernelBuilder) plain(s *site, in ir.Instr) {
	in.Guard, in.Target, in.Pos = ir.NoReg, -1, s.out.Pos
	in.Dst, in.Src = b.cut()
	b.emit(in)
}

// takeResults moves results to the caller's registers.
func (b *kernelBuilder) takeResults(s *site, inner *scope, formals []*ptx.VarDecl, actuals []ptx.Operand) {
	for i, d := range formals {
		if b.isParam(&actuals[i]) {
			continue
		}
		t, _ := declType(d)
		s.arg = i + 1
		b.dst, b.src = b.dst[:0], b.src[:0]
		if !b.dest(s, &actuals[i], t, false) {
			return
		}
		if from := inner.names[d.Names[0].Name]; from.kind == symVar {
			b.src = append(b.src, ir.Operand{Kind: ir.OperandAddr, Reg: ir.NoReg, Var: from.index, Param: -1})
			b.plain(s, ir.Instr{Op: ir.Ld, Type: t, Space: ir.ParamSpace, Vec: 1})
		} else {
			b.src = append(b.src, ir.RegOperand(ir.Reg(from.index)))
			b.plain(s, ir.Instr{Op: ir.Mov, Type: t})
		}
	}
}
