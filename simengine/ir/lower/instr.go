package lower

import (
	"fmt"

	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/ptx"
)

// instr builds one instruction.
func (b *kernelBuilder) instr(in *ptx.Instr) {
	sh := b.mb.shapes.decode(in.Op)
	if sh.unmodelled {
		b.refuse(in.At, in.Op)
		return
	}
	if sh.problem != "" {
		b.errorf(in.At, "%s", sh.problem)
		return
	}
	s := &b.site
	*s = site{in: in, shape: sh, out: sh.Instr}
	s.out.Pos = b.mb.src.Pos(in.At)
	s.out.Pos.Source = b.line
	s.out.Guard = ir.NoReg
	if in.Guard != "" {
		o := ptx.Operand{At: in.At, Kind: ptx.Name, Text: in.Guard}
		r, ok := b.reg(s, &o, "guard of "+in.Op)
		if !ok {
			return
		}
		if b.k.Regs[r].Type != ir.Pred {
			b.errorf(in.At, "guard %s is .%s, want a predicate", in.Guard, b.k.Regs[r].Type)
			return
		}
		s.out.Guard, s.out.GuardNot = r, in.GuardNot
	}
	b.dst, b.src = b.dst[:0], b.src[:0]
	b.read(s)
}

// read reads the operands and emits the instruction.
func (b *kernelBuilder) read(s *site) {
	switch s.shape.spec.form {
	case formMov:
		b.mov(s)
	case formCvt:
		b.cvt(s)
	case formAtom:
		b.atom(s)
	case formCpAsync:
		b.cpAsync(s)
	case formBra:
		b.bra(s)
	case formBrx:
		b.brx(s)
	case formCall:
		b.call(s)
	case formRet:
		b.ret(s)
	case formBar:
		b.bar(s)
	case formMma:
		b.mma(s)
	case formWmma:
		b.wmma(s)
	case formWgmma, formBulk, formFenceProxy, formTensormapSet, formTensormapCopy, formArrive, formDropped:
		b.async(s)
	case formTexture:
		if b.texture(s) {
			b.finish(s)
		}
	default:
		if b.operands(s, s.shape.spec.args) {
			b.finish(s)
		}
	}
}

// finish completes the instruction with the operands read and emits it.
func (b *kernelBuilder) finish(s *site) {
	s.out.Dst, s.out.Src = b.cut()
	b.emit(s.out)
}

// operands reads the operands that args (see spec) describes.
func (b *kernelBuilder) operands(s *site, args string) bool {
	for i := 0; i < len(args); i++ {
		c, optional := args[i], i+1 < len(args) && args[i+1] == '?'
		if optional {
			i++
		}
		if s.arg >= len(s.in.Args) {
			if optional {
				continue
			}
			b.errorf(s.in.At, "%s has too few operands (%d)", s.in.Op, len(s.in.Args))
			return false
		}
		o := &s.in.Args[s.arg]
		s.arg++
		if !b.operand(s, c, o) {
			return false
		}
	}
	return b.done(s)
}

// done checks that every operand was read.
func (b *kernelBuilder) done(s *site) bool {
	if s.arg < len(s.in.Args) {
		b.errorf(s.in.Args[s.arg].At, "%s has too many operands (%d)", s.in.Op, len(s.in.Args))
		return false
	}
	return true
}

// operand reads one operand as the letter c says (see spec).
func (b *kernelBuilder) operand(s *site, c byte, o *ptx.Operand) bool {
	t, relaxed := s.shape.Type, s.shape.spec.relaxed
	wide := t
	if s.out.Mod&ir.ModWide != 0 {
		wide = t.Wide()
	}
	switch c {
	case 'd':
		return b.dest(s, o, t, relaxed)
	case 'D':
		return b.dest(s, o, wide, relaxed)
	case 'u':
		return b.dest(s, o, ir.B32, false)
	case 'o':
		return b.dest(s, o, ir.Pred, false)
	case 'q':
		return b.pair(s, o, t)
	case 'Q':
		return b.pair(s, o, ir.B32)
	case 'P':
		return b.pair(s, o, ir.Pred)
	case 't':
		return b.source(s, o, t, relaxed)
	case 'w':
		return b.source(s, o, wide, relaxed)
	case 's':
		return b.source(s, o, s.shape.SrcType, relaxed)
	case 'i':
		return b.source(s, o, ir.B32, false)
	case 'l':
		return b.source(s, o, ir.B32, true)
	case 'f':
		return b.source(s, o, ir.F32, false)
	case 'p':
		return b.source(s, o, ir.Pred, false)
	case 'm':
		return b.immediate(s, o)
	case 'a':
		return b.address(s, o, &s.out.Space)
	case 'V', 'X':
		return b.vector(s, o, c == 'V')
	case 'h':
		_, ok := b.reg(s, o, "")
		return ok
	}
	panic(fmt.Sprintf("ir: operand letter %q", c))
}
