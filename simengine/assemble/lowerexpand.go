package assemble

import (
	"strings"

	"github.com/warptune/warptune/simengine/ir"
)

// div64 is the 64-bit integer division and remainder, a routine of its own in the
// real assembler's code; written from the known algorithm, its length approximate.
var div64 = []mop{opI2F, opMUFU, opIADD3, opF2I, opIMADWIDE, opIMAD, opIMAD, opIMADHI, opIADD3X, opIMADWIDE, opIMADHI, opIADD3X, opIMADHI, opIMAD, opIADD3, opIADD3X,
	opIMADWIDE, opIMAD, opIMAD, opIMADHI, opIADD3X, opIMADWIDE, opIMADHI, opIADD3X, opIMADHI, opIMAD, opIADD3, opIADD3X, opIMADWIDE, opIMAD, opIMADHI, opIADD3X,
	opISETP, opISETP, opIADD3, opIADD3X, opSEL, opSEL, opISETP, opISETP, opSEL, opSEL, opSEL, opSEL}

// sequence emits operations each of which reads the result of the one before and
// the sources; the last writes dst.
func (s *selector) sequence(ops []mop, dst arg, src ...arg) {
	prev := arg{kind: argZero}
	for i, op := range ops {
		d := dst
		if i < len(ops)-1 {
			d = s.temp(1)
			if op == opDFMA || op == opDMUL || op == opIMADWIDE {
				d = s.temp(2)
			}
			if op == opISETP || op == opFSETP {
				d = s.carry()
			}
		}
		args := append([]arg{prev}, src...)
		if len(args) > 4 {
			args = args[:4]
		}
		s.emit(op, d, args...)
		prev = d
	}
}

// chain emits the same operation count times, each reading the one before.
func (s *selector) chain(count int, op mop, dst arg, src ...arg) {
	ops := make([]mop, count)
	for i := range ops {
		ops[i] = op
	}
	s.sequence(ops, dst, src...)
}

// lowerExpansion lowers what takes several instructions.
func (s *selector) lowerExpansion(n *node) error {
	dst := s.dest(0, s.f.vals[n.dst[0]].words)
	if n.op == ir.Bfe && s.constantField(n, dst) {
		return nil
	}
	args := make([]arg, 0, 3)
	for _, o := range s.plains(n.src, n.typ, true) {
		args = append(args, s.data(o, n.typ))
	}
	approx := n.mod&ir.ModApprox != 0
	switch n.op {
	case ir.Div, ir.Rem:
		s.division(n, dst, args, approx)
	case ir.Bfe:
		s.emit(opSHF, s.temp(1), args...)
		s.emit(opSHF, dst, s.buf[len(s.buf)-1].dst[0])
	case ir.Fns:
		s.chain(16, opIADD3, dst, args...)
	case ir.Sin, ir.Cos:
		s.emit(opMUFU, dst, args...) // of the range-reduced argument, see legalise
	case ir.Tanh:
		s.emit(opMUFU, dst, args...)
	case ir.Rsqrt:
		if n.branches() {
			s.expand(rsqrtF64, dst, args...)
			return nil
		}
		s.transcendental(n, dst, args)
	case ir.Ex2, ir.Lg2:
		s.transcendental(n, dst, args)
	case ir.Rcp:
		switch {
		case isInt(n.typ):
			s.expand(rcpU32, dst, args...)
		case n.typ == ir.F64:
			s.expand(rcpF64, dst, args...)
		case approx:
			s.emit(opMUFU, dst, args...)
		default:
			s.expand(rcpF32, dst, args...)
		}
	case ir.Sqrt:
		switch {
		case n.typ == ir.F64:
			s.expand(sqrtF64, dst, args...)
		case approx:
			s.transcendental(n, dst, args)
		default:
			s.expand(sqrtF32, dst, args...)
		}
	}
	return nil
}

// constantField lowers the extraction of a field at a constant place: a byte
// or a half by a permutation, one at an end by a shift or a mask, others by both.
func (s *selector) constantField(n *node, dst arg) bool {
	if bits(n.typ) != 32 || n.src[1].Kind != ir.OperandImm || n.src[2].Kind != ir.OperandImm {
		return false
	}
	at, size := n.src[1].Imm&0xff, n.src[2].Imm&0xff
	x := s.word(n.src[0], 0)
	switch {
	case at%8 == 0 && at < 32 && (size == 8 || size == 16 && at <= 16):
		s.emit(opPRMT, dst, x)
	case at+size >= 32:
		s.emit(opSHF, dst, x)
	case at == 0:
		s.emit(opLOP3, dst, x)
	default:
		t := s.temp(1)
		s.emit(opSHF, t, x)
		s.emit(opLOP3, dst, t)
	}
	return true
}

// division picks the expansion of div and rem.
func (s *selector) division(n *node, dst arg, args []arg, approx bool) {
	switch {
	case n.typ == ir.F64:
		s.expand(divF64, dst, args...)
	case n.typ == ir.F32 && approx:
		s.sequence([]mop{opMUFU, opFMUL}, dst, args...)
	case n.typ == ir.F32 && n.mod&ir.ModFull != 0:
		s.sequence([]mop{opFSETP, opFMUL, opMUFU, opFMUL, opFMUL}, dst, args...)
	case n.typ == ir.F32:
		s.expand(divF32, dst, args...)
	case words(n.typ) == 2:
		s.sequence(div64, valueArg(dst.v, 0, 1), args...)
		s.emit(opSEL, valueArg(dst.v, 1, 1), s.buf[len(s.buf)-2].dst[0])
	case signed(n.typ):
		s.expand(divS32, dst, args...)
	default:
		s.expand(divU32, dst, args...)
	}
}

// transcendental emits a MUFU; without flush to zero its argument and result
// are scaled around denormals, which takes three more instructions.
func (s *selector) transcendental(n *node, dst arg, args []arg) {
	if n.typ != ir.F32 || n.mod&ir.ModFtz != 0 {
		s.emit(opMUFU, dst, args...)
		return
	}
	p, a, r := s.carry(), s.temp(1), s.temp(1)
	s.emit(opFSETP, p, args...)
	s.emit(opFMUL, a, args[0], p)
	s.emit(opMUFU, r, a)
	s.emit(opFMUL, dst, r, p)
}

// expand emits an expansion of an operation that reads src.
func (s *selector) expand(steps []step, dst arg, src ...arg) {
	var bound [128]arg
	bound['d'], bound['D'] = dst, dst
	for i, a := range src {
		bound["abcv"[i]], bound["ABCV"[i]] = a, a
	}
	at := func(o slot) arg {
		a := bound[o.name]
		if o.word >= 0 && a.kind == argValue {
			a.w, a.n = a.w+uint8(o.word), 1
		}
		return a
	}
	for i := range steps {
		st := &steps[i]
		if (st.op == opBSSY || st.op == opBSYNC) && s.alike(s.n) {
			continue // all lanes branch, or none
		}
		args := make([]arg, len(st.src))
		for k, o := range st.src {
			args[k] = at(o)
		}
		if n := st.dst.name; n != 0 && n != 'd' && n != 'D' && st.guard == 0 && (st.dst.word < 0 || bound[n].kind == argNone) {
			bound[n] = s.fresh(n)
		}
		d := arg{}
		if st.dst.name != 0 {
			d = at(st.dst)
		}
		in := s.emit(st.op, d, args...)
		if st.guard != 0 {
			in.guard = bound[st.guard].v
		}
	}
}

// alike says whether all lanes of a warp have the same operands for a node.
func (s *selector) alike(n *node) bool {
	for i := range n.src {
		if o := &n.src[i]; o.Kind == ir.OperandReg && !s.f.vals[o.Reg].uniform {
			return false
		}
	}
	return true
}

// fresh returns a register of the kind that a letter stands for.
func (s *selector) fresh(name byte) arg {
	switch {
	case strings.IndexByte("pqsz", name) >= 0:
		return s.carry()
	case name >= 'A' && name <= 'Z':
		return s.temp(2)
	}
	return s.temp(1)
}
