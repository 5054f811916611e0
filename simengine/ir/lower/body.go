package lower

import (
	"fmt"
	"slices"

	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/ptx"
)

// kernelBuilder builds one kernel. Until resolve, Instr.Target and Targets
// hold label numbers.
type kernelBuilder struct {
	mb     *moduleBuilder
	k      *ir.Kernel
	scope  *scope
	list   []ir.Instr
	labels []label
	// lastLabel is the place of the label reached last.
	lastLabel  int
	frames     []frame // the function calls being inlined, the kernel first
	inline     int     // functions inlined so far, for names
	statements int     // read, those of a function each time it is inlined
	// statics are the variables of functions that exist once however often
	// the function is inlined.
	statics     map[*ptx.Declarator]int32
	unsupported *ir.UnsupportedError
	area        area
	line        string // the line that .loc gave last, as saxpy.cu:14

	site site     // the instruction being built
	dst  []ir.Reg // its operands
	src  []ir.Operand
	regs []ir.Reg // slabs that finished lists are cut from
	ops  []ir.Operand
}

// label is a place in the instruction list.
type label struct {
	name string
	at   ptx.Loc
	pc   int // -1 until it is reached
}

// frame is one function being inlined.
type frame struct {
	f   *ptx.Func
	ret int // label after the call; -1 in the kernel itself
}

// Bounds on what inlining may produce: instructions, and statements, which may
// be calls and declarations that produce none.
const (
	maxInstrs     = 1 << 18
	maxStatements = 1 << 21
)

func (b *kernelBuilder) errorf(at ptx.Loc, format string, args ...any) {
	b.mb.errorf(at, format, args...)
}

// refuse records the first thing of the kernel that is not modelled.
func (b *kernelBuilder) refuse(at ptx.Loc, what string) {
	if b.unsupported == nil {
		b.unsupported = &ir.UnsupportedError{Kernel: b.k.Name, Instr: what, Pos: b.mb.src.Pos(at)}
		b.unsupported.Pos.Source = b.line
	}
}

// kernel builds an entry.
func (mb *moduleBuilder) kernel(f *ptx.Func) (*ir.Kernel, *ir.UnsupportedError) {
	k := &ir.Kernel{Name: f.Name, Module: mb.out, Vars: slices.Clone(mb.out.Vars), DynamicShared: -1}
	b := &kernelBuilder{mb: mb, k: k, scope: newScope(nil), frames: []frame{{f: f, ret: -1}}, lastLabel: -1, area: mb.area}
	for _, d := range f.Header {
		b.header(d)
	}
	b.kernelParams(f)
	b.list = make([]ir.Instr, 0, len(f.Body.Stmts)+1)
	b.body(f.Body)
	if n := len(b.list); n == 0 || !ir.Ends(&b.list[n-1]) || b.labelAtEnd() {
		b.emit(ir.Instr{Op: ir.Exit, Guard: ir.NoReg, Target: -1, Pos: mb.src.Pos(f.Body.End)})
	}
	if b.unsupported != nil || len(mb.errs) > 0 {
		return k, b.unsupported
	}
	b.lowerParams()
	b.layout()
	b.resolve()
	inferLocal(k)
	k.BuildCFG()
	return k, nil
}

// reach puts a label at the end of the list.
func (b *kernelBuilder) reach(label int) {
	b.labels[label].pc = len(b.list)
	b.lastLabel = len(b.list)
}

func (b *kernelBuilder) labelAtEnd() bool { return b.lastLabel == len(b.list) }

// header reads a performance directive of an entry.
func (b *kernelBuilder) header(d *ptx.Directive) {
	var n [3]int
	for i := range d.Args {
		if d.Args[i].Kind != ptx.Int || i > 2 || d.Args[i].Bits > 1<<24 {
			b.errorf(d.At, "%s takes up to three numbers", d.Name)
			return
		}
		n[i] = int(d.Args[i].Bits)
	}
	for i := max(1, len(d.Args)); i < 3; i++ {
		n[i] = 1
	}
	switch d.Name {
	case ".maxntid":
		b.k.MaxNTid = n
	case ".reqntid":
		b.k.ReqNTid = n
	case ".minnctapersm":
		b.k.MinCTAs = n[0]
	case ".maxnreg":
		b.k.MaxRegs = n[0]
	case ".reqnctapercluster":
		b.k.Cluster = n
	}
}

// kernelParams lays out the parameter space as the driver does: in order, each
// at its alignment.
func (b *kernelBuilder) kernelParams(f *ptx.Func) {
	off := 0
	for _, d := range f.Params {
		n := &d.Names[0]
		v, ok := b.mb.newVar(d, n)
		if !ok {
			b.refuse(d.At, fmt.Sprintf("a parameter of type %s", d.Type))
			continue
		}
		if b.declared(n.Name) {
			b.errorf(n.At, "parameter %s is declared twice", n.Name)
		}
		off = alignUp(off, v.Align)
		b.scope.set(n.Name, symbol{kind: symParam, index: int32(len(b.k.Params))})
		b.k.Params = append(b.k.Params, ir.Param{Name: n.Name, Type: v.Elem, Offset: off, Size: v.Size, Align: v.Align})
		off += v.Size
	}
}

// body builds the statements of one scope, which is already current.
func (b *kernelBuilder) body(blk *ptx.Block) {
	if b.statements += 1 + len(blk.Stmts); b.statements > maxStatements {
		b.refuse(blk.At, fmt.Sprintf("more than %d statements after inlining", maxStatements))
		return
	}
	b.declareLabels(blk.Stmts)
	for _, n := range blk.Stmts {
		if b.unsupported != nil {
			return
		}
		switch n := n.(type) {
		case *ptx.VarDecl:
			b.statements += len(n.Names)
			b.declare(n)
		case *ptx.Block:
			b.scope = newScope(b.scope)
			b.body(n)
			b.scope = b.scope.parent
		case *ptx.Label:
			if n.Decl == nil {
				b.reach(b.scope.labels[n.Name])
			}
		case *ptx.Instr:
			b.instr(n)
		case *ptx.Directive:
			if n.Name == ".loc" {
				b.loc(n)
			}
			if n.Name == ".pragma" && len(n.Args) == 1 && n.Args[0].Text == "nounroll" {
				b.k.NoUnroll = append(b.k.NoUnroll, len(b.list))
			}
		}
	}
}

// declareLabels enters the labels of a scope, which may be used before they
// are reached.
func (b *kernelBuilder) declareLabels(stmts []ptx.Node) {
	s := b.scope
	for _, n := range stmts {
		l, ok := n.(*ptx.Label)
		if !ok {
			continue
		}
		if s.labels == nil {
			s.labels, s.lists = map[string]int{}, map[string]*ptx.Directive{}
		}
		if _, dup := s.labels[l.Name]; dup || s.lists[l.Name] != nil {
			b.errorf(l.At, "label %s is defined twice", l.Name)
			continue
		}
		if l.Decl != nil {
			s.lists[l.Name] = l.Decl
			continue
		}
		s.labels[l.Name] = b.newLabel(l.Name, l.At)
	}
}

func (b *kernelBuilder) newLabel(name string, at ptx.Loc) int {
	b.labels = append(b.labels, label{name: name, at: at, pc: -1})
	return len(b.labels) - 1
}

// findLabel looks a label up in this scope and those around it.
func (b *kernelBuilder) findLabel(o *ptx.Operand) (int, bool) {
	if o.Kind == ptx.Name {
		for s := b.scope; s != nil; s = s.parent {
			if l, ok := s.labels[o.Text]; ok {
				return l, true
			}
		}
	}
	b.errorf(o.At, "label %s is not defined", o.Text)
	return 0, false
}

// declare enters a declaration of a function's body.
func (b *kernelBuilder) declare(d *ptx.VarDecl) {
	if d.Space == ".reg" {
		b.declareRegs(d)
		return
	}
	for i := range d.Names {
		n := &d.Names[i]
		if b.declared(n.Name) {
			b.errorf(n.At, "%s is declared twice", n.Name)
			continue
		}
		b.scope.set(n.Name, symbol{kind: symVar, index: b.ownVar(d, n)})
	}
}

// ownVar adds a variable of the kernel's, or finds the one a function made when
// it was inlined before.
func (b *kernelBuilder) ownVar(d *ptx.VarDecl, n *ptx.Declarator) int32 {
	if i, ok := b.statics[n]; ok {
		return i
	}
	v, ok := b.mb.newVar(d, n)
	if !ok {
		b.refuse(d.At, fmt.Sprintf("a variable of type %s in space %s", d.Type, d.Space))
	}
	i := int32(len(b.k.Vars))
	if len(n.Init) > 0 {
		b.initOwn(d, n, &v)
	}
	b.k.Vars = append(b.k.Vars, v)
	switch v.Space {
	case ir.Shared, ir.Global, ir.Const:
		if b.statics == nil {
			b.statics = map[*ptx.Declarator]int32{}
		}
		b.statics[n] = i
	}
	b.name(i)
	return i
}

// initOwn computes the initial bytes of a variable declared in a body.
func (b *kernelBuilder) initOwn(d *ptx.VarDecl, n *ptx.Declarator, v *ir.Var) {
	scratch := &moduleBuilder{src: b.mb.src, out: &ir.Module{Vars: append(slices.Clone(b.mb.out.Vars), *v)}, vars: b.mb.vars, funcs: b.mb.funcs, seen: b.mb.seen, initialised: b.mb.initialised}
	own := int32(len(b.mb.out.Vars))
	scratch.initialise(own, d, n)
	b.mb.initialised = scratch.initialised
	scratch.relocate()
	b.mb.errs = append(b.mb.errs, scratch.errs...)
	*v = scratch.out.Vars[own]
}

// name gives a variable its offset when the kernel first names it. Shared
// memory is laid out once all of it is known; until then 0 marks what is named.
func (b *kernelBuilder) name(i int32) {
	v := &b.k.Vars[i]
	if v.Offset >= 0 || v.Space == ir.ParamSpace {
		return
	}
	if v.Space != ir.Shared {
		v.Offset = b.area.take(v.Space, v.Size, v.Align)
		return
	}
	v.Offset = 0
	if v.Size == 0 && b.k.DynamicShared < 0 {
		b.k.DynamicShared = int(i)
	}
}

// layout places the shared variables, in order, with the unsized ones together
// at the end, and sums the state spaces.
func (b *kernelBuilder) layout() {
	k, align := b.k, 1
	for i := range k.Vars {
		v := &k.Vars[i]
		switch {
		case v.Space != ir.Shared || v.Offset < 0:
		case v.Size == 0:
			align = max(align, v.Align)
		default:
			v.Offset = alignUp(k.SharedBytes, v.Align)
			k.SharedBytes = v.Offset + v.Size
		}
	}
	for i := range k.Vars {
		if v := &k.Vars[i]; v.Space == ir.Shared && v.Offset >= 0 && v.Size == 0 {
			v.Offset = alignUp(k.SharedBytes, align)
		}
	}
	k.LocalBytes, k.ConstBytes = b.area[ir.Local], b.area[ir.Const]
}

// resolve turns label numbers into instruction indices.
func (b *kernelBuilder) resolve() {
	for i := range b.list {
		in := &b.list[i]
		if in.Op == ir.Bra {
			in.Target = b.labels[in.Target].pc
		}
		for j, l := range in.Targets {
			in.Targets[j] = b.labels[l].pc
		}
	}
	b.k.Instrs = slices.Clip(b.list)
}

// emit appends an instruction.
func (b *kernelBuilder) emit(in ir.Instr) {
	if len(b.list) >= maxInstrs {
		b.refuse(ptx.Loc{Line: int32(in.Pos.Line), Col: int32(in.Pos.Col)}, fmt.Sprintf("more than %d instructions after inlining", maxInstrs))
		return
	}
	if len(b.frames) > 1 && in.Space == ir.ParamSpace && in.Op != ir.FenceProxy && !(len(in.Src) > 0 && in.Src[0].Kind == ir.OperandAddr && in.Src[0].Reg == ir.NoReg) {
		in.Space = ir.Local // through a pointer to a device function's parameter
	}
	b.list = append(b.list, in)
}

// cut copies the operands of the instruction being built into the slabs.
func (b *kernelBuilder) cut() ([]ir.Reg, []ir.Operand) {
	if cap(b.regs)-len(b.regs) < len(b.dst) {
		b.regs = make([]ir.Reg, 0, max(1024, len(b.dst)))
	}
	if cap(b.ops)-len(b.ops) < len(b.src) {
		b.ops = make([]ir.Operand, 0, max(512, len(b.src)))
	}
	r, o := len(b.regs), len(b.ops)
	b.regs, b.ops = append(b.regs, b.dst...), append(b.ops, b.src...)
	var dst []ir.Reg
	var src []ir.Operand
	if len(b.dst) > 0 {
		dst = b.regs[r:len(b.regs):len(b.regs)]
	}
	if len(b.src) > 0 {
		src = b.ops[o:len(b.ops):len(b.ops)]
	}
	b.dst, b.src = b.dst[:0], b.src[:0]
	return dst, src
}
