package isel

import (
	"math"
	"strings"

	"github.com/warptune/warptune/simengine/assemble/hir"
	"github.com/warptune/warptune/simengine/assemble/isel/expansion"
	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/assemble/vreg"
	"github.com/warptune/warptune/simengine/ir"
)

// Operations that take several instructions.

// div64 is 64-bit integer division and remainder: a routine of its own in ptxas' code, here of
// about its length.
var div64 = []mir.Op{mir.OpI2F, mir.OpMUFU, mir.OpIADD3, mir.OpF2I, mir.OpIMADWIDE, mir.OpIMAD, mir.OpIMAD, mir.OpIMADHI, mir.OpIADD3X, mir.OpIMADWIDE, mir.OpIMADHI, mir.OpIADD3X, mir.OpIMADHI, mir.OpIMAD, mir.OpIADD3, mir.OpIADD3X,
	mir.OpIMADWIDE, mir.OpIMAD, mir.OpIMAD, mir.OpIMADHI, mir.OpIADD3X, mir.OpIMADWIDE, mir.OpIMADHI, mir.OpIADD3X, mir.OpIMADHI, mir.OpIMAD, mir.OpIADD3, mir.OpIADD3X, mir.OpIMADWIDE, mir.OpIMAD, mir.OpIMADHI, mir.OpIADD3X,
	mir.OpISETP, mir.OpISETP, mir.OpIADD3, mir.OpIADD3X, mir.OpSEL, mir.OpSEL, mir.OpISETP, mir.OpISETP, mir.OpSEL, mir.OpSEL, mir.OpSEL, mir.OpSEL}

// sequence emits operations that each read src and the result of the one before. The last writes
// dst.
func (s *selector) sequence(ops []mir.Op, dst mir.Arg, src ...mir.Arg) {
	prev := mir.Arg{Kind: mir.ArgZero}
	for i, op := range ops {
		d := dst
		if i < len(ops)-1 {
			d = s.temp(1)
			if op == mir.OpDFMA || op == mir.OpDMUL || op == mir.OpIMADWIDE {
				d = s.temp(2)
			}
			if op == mir.OpISETP || op == mir.OpFSETP {
				d = s.carry()
			}
		}
		args := append([]mir.Arg{prev}, src...)
		if len(args) > 4 {
			args = args[:4]
		}
		s.emit(op, d, args...)
		prev = d
	}
}

// chain emits one operation count times, each reading the result of the one before.
func (s *selector) chain(count int, op mir.Op, dst mir.Arg, src ...mir.Arg) {
	ops := make([]mir.Op, count)
	for i := range ops {
		ops[i] = op
	}
	s.sequence(ops, dst, src...)
}

// lowerExpansion lowers divisions, roots, transcendental functions and fields.
func (s *selector) lowerExpansion(n *hir.Node) error {
	dst := s.dest(0, s.hir.Values[n.Dst[0]].Words)
	if n.Op == ir.Bfe && s.constantField(n, dst) {
		return nil
	}
	if n.Type == ir.F32 && n.Mod&ir.ModFull != 0 && (n.Op == ir.Rcp || len(n.Src) > 2) {
		s.scaledDivision(n, dst)
		return nil
	}
	args := make([]mir.Arg, 0, 3)
	for _, o := range s.stripModifiers(n.Src, n.Type, true) {
		args = append(args, s.data(o, n.Type))
	}
	approx := n.Mod&ir.ModApprox != 0
	switch n.Op {
	case ir.Div, ir.Rem:
		s.division(n, dst, args, approx)
	case ir.Bfe:
		s.emit(mir.OpSHF, s.temp(1), args...)
		s.emit(mir.OpSHF, dst, s.buf[len(s.buf)-1].Dst[0])
	case ir.Fns:
		s.chain(16, mir.OpIADD3, dst, args...)
	case ir.Sin, ir.Cos:
		s.emit(mir.OpMUFU, dst, args...) // the argument is range-reduced (opt.Legalise)
	case ir.Tanh:
		s.emit(mir.OpMUFU, dst, args...)
	case ir.Rsqrt:
		if n.HasSlowPath() {
			s.expand(expansion.RsqrtF64, dst, args...)
			return nil
		}
		s.transcendental(n, dst, args)
	case ir.Ex2, ir.Lg2:
		s.transcendental(n, dst, args)
	case ir.Rcp:
		switch {
		case hir.IsInt(n.Type):
			s.expand(expansion.RcpU32, dst, args...)
		case n.Type == ir.F64:
			s.expand(expansion.RcpF64, dst, args...)
		case approx:
			s.emit(mir.OpMUFU, dst, args...)
		default:
			s.expand(expansion.RcpF32, dst, args...)
		}
	case ir.Sqrt:
		switch {
		case n.Type == ir.F64:
			s.expand(expansion.SqrtF64, dst, args...)
		case approx:
			s.transcendental(n, dst, args)
		default:
			s.expand(expansion.SqrtF32, dst, args...)
		}
	}
	return nil
}

// scaledDivision lowers the parts of div.full that opt.Legalise made: the reciprocal of a divisor, and
// the product with it, both scaled where the divisor is large or small. What nothing else reads is scaled
// where it is.
//
// Evidence, ptxas 12.8 for sm_90a: @P0 FMUL R0, R0, 0.25 and @!P1 FMUL R0, R0, 16777216.
func (s *selector) scaledDivision(n *hir.Node, dst mir.Arg) {
	first := 2
	if n.Op == ir.Rcp {
		first = 1
	}
	if c := n.Src[0]; c.Kind == ir.OperandImm {
		s.scaledConstant(n, dst, math.Float32frombits(uint32(c.Imm)))
		return
	}
	ends := s.endsHere(n.Src[0])
	x := s.gprWord(n.Src[0], 0)
	ends = ends && x == mir.ValueWords(vreg.Value(n.Src[0].Reg), 0, 1)
	scaled := x
	if !ends {
		scaled = s.temp(1)
	}
	factors := [...]int64{0x3e800000, 0x4b800000}
	for i, o := range n.Src[first:] {
		p, factor := s.pred(o), mir.Arg{Kind: mir.ArgImm, Imm: factors[i]}
		if i == 0 && !ends {
			quarter := s.temp(1)
			s.emit(mir.OpFMUL, quarter, x, factor)
			s.emit(mir.OpFSEL, scaled, quarter, x, p)
			continue
		}
		in := s.emit(mir.OpFMUL, scaled, scaled, factor)
		in.Guard, in.KeepsOld = p.Value, true
	}
	if n.Op == ir.Rcp {
		s.emit(mir.OpMUFU, dst, scaled)
		return
	}
	s.emit(mir.OpFMUL, dst, scaled, s.gprWord(n.Src[1], 0))
}

// scaledConstant is scaledDivision of a constant: ptxas knows it divided by four.
//
// Evidence, ptxas 12.8 for sm_90a: MOV R9, 0.25 and, of each of 16 quotients 1/(1+exp(-x)), FSEL R12, R9, 1, P1.
func (s *selector) scaledConstant(n *hir.Node, dst mir.Arg, c float32) {
	quarter, scaled := s.temp(1), s.temp(1)
	s.emit(mir.OpMOV, quarter, floatArg(c/4))
	s.emit(mir.OpFSEL, scaled, quarter, floatArg(c), s.pred(n.Src[2]))
	if len(n.Src) > 3 {
		in := s.emit(mir.OpFMUL, scaled, scaled, floatArg(1<<24))
		in.Guard, in.KeepsOld = s.pred(n.Src[3]).Value, true
	}
	s.emit(mir.OpFMUL, dst, scaled, s.gprWord(n.Src[1], 0))
}

// floatArg is a number in an instruction.
func floatArg(x float32) mir.Arg {
	return mir.Arg{Kind: mir.ArgImm, Imm: int64(int32(math.Float32bits(x)))}
}

// endsHere reports whether the present node is the last to read an operand, a value that the same block
// computes into a register of its own. The node may write to it.
func (s *selector) endsHere(o ir.Operand) bool {
	if o.Kind != ir.OperandReg {
		return false
	}
	v := vreg.Value(o.Reg)
	d, vi := s.hir.DefOf(v), &s.hir.Values[v]
	if d == nil || vi.Defs != 1 || vi.Words != 1 || vi.Uniform || s.demand[v] != 0 || s.twin[v] != vreg.None || s.localCopy(v) != v || s.hir.Carrier(d) != s.b {
		return false
	}
	_, bound := s.sub[v]
	return !bound && d.Op != ir.Mov && d.Op != ir.Cvt && d.Guard == vreg.None && !s.lookedThrough(v)
}

// constantField lowers the extraction of a field at a constant place, and reports whether it is
// one: a byte or a half by PRMT, a field at an end by a shift or a mask, others by both.
func (s *selector) constantField(n *hir.Node, dst mir.Arg) bool {
	if hir.Bits(n.Type) != 32 || n.Src[1].Kind != ir.OperandImm || n.Src[2].Kind != ir.OperandImm {
		return false
	}
	at, size := n.Src[1].Imm&0xff, n.Src[2].Imm&0xff
	x := s.gprWord(n.Src[0], 0)
	switch {
	case at%8 == 0 && at < 32 && (size == 8 || size == 16 && at <= 16):
		s.emit(mir.OpPRMT, dst, x)
	case at+size >= 32:
		s.emit(mir.OpSHF, dst, x)
	case at == 0:
		s.emit(mir.OpLOP3, dst, x)
	default:
		t := s.temp(1)
		s.emit(mir.OpSHF, t, x)
		s.emit(mir.OpLOP3, dst, t)
	}
	return true
}

// division lowers div and rem.
func (s *selector) division(n *hir.Node, dst mir.Arg, args []mir.Arg, approx bool) {
	switch {
	case n.Type == ir.F64:
		s.expand(expansion.DivF64, dst, args...)
	case n.Type == ir.F32 && approx:
		s.sequence([]mir.Op{mir.OpMUFU, mir.OpFMUL}, dst, args...)
	case n.Type == ir.F32 && n.Mod&ir.ModFull != 0:
		s.sequence([]mir.Op{mir.OpFSETP, mir.OpFMUL, mir.OpMUFU, mir.OpFMUL, mir.OpFMUL}, dst, args...)
	case n.Type == ir.F32:
		s.expand(expansion.DivF32, dst, args...)
	case hir.Words(n.Type) == 2:
		s.sequence(div64, mir.ValueWords(dst.Value, 0, 1), args...)
		s.emit(mir.OpSEL, mir.ValueWords(dst.Value, 1, 1), s.buf[len(s.buf)-2].Dst[0])
	case hir.Signed(n.Type):
		s.expand(expansion.DivS32, dst, args...)
	default:
		s.expand(expansion.DivU32, dst, args...)
	}
}

// transcendental emits a MUFU. Without flush to zero, three more instructions scale around
// denormals.
func (s *selector) transcendental(n *hir.Node, dst mir.Arg, args []mir.Arg) {
	if n.Type != ir.F32 || n.Mod&ir.ModFtz != 0 {
		s.emit(mir.OpMUFU, dst, args...)
		return
	}
	p, a, r := s.carry(), s.temp(1), s.temp(1)
	s.emit(mir.OpFSETP, p, args...)
	s.emit(mir.OpFMUL, a, args[0], p)
	s.emit(mir.OpMUFU, r, a)
	s.emit(mir.OpFMUL, dst, r, p)
}

// expand emits the steps of an expansion.
func (s *selector) expand(steps []expansion.Step, dst mir.Arg, src ...mir.Arg) {
	var bound [128]mir.Arg
	bound['d'], bound['D'] = dst, dst
	for i, a := range src {
		bound["abcv"[i]], bound["ABCV"[i]] = a, a
	}
	at := func(o expansion.Slot) mir.Arg {
		a := bound[o.Name]
		if o.Word >= 0 && a.Kind == mir.ArgValue {
			a.Word, a.N = a.Word+uint8(o.Word), 1
		}
		return a
	}
	for i := range steps {
		st := &steps[i]
		if (st.Op == mir.OpBSSY || st.Op == mir.OpBSYNC) && s.sameInAllLanes(s.n) {
			continue // all lanes branch, or none
		}
		args := make([]mir.Arg, len(st.Src))
		for k, o := range st.Src {
			args[k] = at(o)
		}
		if n := st.Dst.Name; n != 0 && n != 'd' && n != 'D' && st.Guard == 0 && (st.Dst.Word < 0 || bound[n].Kind == mir.ArgNone) {
			bound[n] = s.fresh(n)
		}
		d := mir.Arg{}
		if st.Dst.Name != 0 {
			d = at(st.Dst)
		}
		in := s.emit(st.Op, d, args...)
		if st.Guard != 0 {
			in.Guard = bound[st.Guard].Value
		}
	}
}

// sameInAllLanes reports whether all lanes have the same operands for a node.
func (s *selector) sameInAllLanes(n *hir.Node) bool {
	for i := range n.Src {
		if o := &n.Src[i]; o.Kind == ir.OperandReg && !s.hir.Values[o.Reg].Uniform {
			return false
		}
	}
	return true
}

// fresh returns a register of the kind that a letter stands for.
func (s *selector) fresh(name byte) mir.Arg {
	switch {
	case strings.IndexByte("pqsz", name) >= 0:
		return s.carry()
	case name >= 'A' && name <= 'Z':
		return s.temp(2)
	}
	return s.temp(1)
}
