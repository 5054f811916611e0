package assemble

import (
	"fmt"

	"github.com/warptune/warptune/simengine/ir"
)

// lowerNode lowers one node to the file its readers want: uniform when all of
// them can read a uniform register and the uniform datapath can compute it.
func (s *selector) lowerNode(n *node) error {
	f := s.f
	if s.uniformVectorLoad(n) {
		for k := 0; k < len(n.dst); k += 2 {
			s.lowerUniformConst(n, s.pairUniform(n.dst[k:k+2]), int64(k)*4)
		}
		return nil
	}
	if len(n.dst) != 1 || n.dst[0] < 0 {
		if err := s.lower(n); err != nil {
			return err
		}
		s.copyTwins(n.dst)
		return nil
	}
	v := n.dst[0]
	vi := &f.vals[v]
	if vi.file == fileUniform {
		return s.lowerUniform(n, v)
	}
	if vi.defs == 1 && vi.uniform && vi.file == fileGeneral && (vi.words == 1 || n.space == ir.Const || n.op != ir.Ld && n.op != ir.Cvta && n.op != ir.Mov) && s.uniformOp(n) {
		if s.want[v]&wantGPR == 0 {
			f.sub[v] = subst{v: s.twinOf(v)}
			return s.lowerUniform(n, s.twinOf(v))
		}
		if s.twin[v] != noValue {
			if n.op == ir.Mov && n.src[0].Kind == ir.OperandSpecial {
				s.readUniform(n, valueArg(s.twin[v], 0, 1))
				return s.lower(n)
			}
			if err := s.lowerUniform(n, s.twin[v]); err != nil {
				return err
			}
			for w := range vi.words {
				if w == 0 || s.want[v]&wantHi != 0 {
					s.emit(opMOV, s.dest(w, 1), valueArg(s.twin[v], w, 1))
				}
			}
			return nil
		}
	}
	if err := s.lower(n); err != nil {
		return err
	}
	s.copyTwins(n.dst)
	return nil
}

// copyTwins copies what was brought to general registers to the uniform ones that read it.
func (s *selector) copyTwins(vals []value) {
	for _, v := range vals {
		if v < 0 || s.twin[v] == noValue || s.f.vals[v].file != fileGeneral {
			continue
		}
		for w := range s.f.vals[v].words {
			if w == 0 || s.want[v]&wantHi != 0 {
				from := valueArg(v, w, 1)
				if b, bound := s.f.sub[v]; bound { // an element of a vector
					from = valueArg(b.v, b.w+w, 1)
				}
				s.emit(opR2UR, valueArg(s.twin[v], w, 1), from)
			}
		}
	}
}

// uniOperand returns an operand of a uniform instruction.
func (s *selector) uniOperand(o ir.Operand) arg {
	switch o.Kind {
	case ir.OperandImm:
		return arg{kind: argImm, imm: int64(o.Imm)}
	case ir.OperandReg:
		v := s.local(value(o.Reg))
		s.want[v] |= wantLo | wantUni
		return valueArg(s.twinOf(v), 0, 1)
	case ir.OperandVar:
		if s.f.k.Vars[o.Var].Space == ir.Shared && s.f.t.sharedWindow {
			b := s.sharedBase(o)
			s.want[b] |= wantLo | wantUni
			return valueArg(s.twinOf(b), 0, 1)
		}
	}
	return arg{kind: argImm}
}

// lowerUniform lowers a node to one uniform instruction that writes d.
func (s *selector) lowerUniform(n *node, d value) error {
	dst := valueArg(d, 0, 1)
	if s.f.vals[d].words == 2 {
		return s.lowerUniformPair(n, d)
	}
	args := make([]arg, 0, 3)
	if n.op == ir.Ld && n.space == ir.Const {
		s.lowerUniformConst(n, dst, 0)
		return nil
	}
	if n.op != ir.Mov || n.src[0].Kind != ir.OperandSpecial {
		for _, o := range n.src {
			args = append(args, s.uniOperand(o))
		}
	}
	switch n.op {
	case ir.Mov, ir.Cvt, ir.Not, ir.Neg:
		if n.op == ir.Mov && n.src[0].Kind == ir.OperandSpecial {
			s.readUniform(n, dst)
			return nil
		}
		s.emit(opUMOV, dst, args...)
	case ir.Add, ir.Sub:
		s.emit(opUIADD3, dst, args...)
	case ir.Shl, ir.Shr:
		s.emit(opUSHF, dst, args...)
	case ir.And, ir.Or, ir.Xor:
		s.emit(opULOP3, dst, args...)
	case ir.Mul, ir.Mad:
		s.emit(opUIMAD, dst, args...)
	case ir.Ld:
		s.emit(opULDC, dst)
	default:
		return s.unsupported(n)
	}
	return nil
}

// readUniform brings a special register to a uniform one.
func (s *selector) readUniform(n *node, dst arg) {
	if s.inPlace(n) {
		s.emit(opULDC, dst, arg{kind: argConst, n: 1})
		return
	}
	s.emit(opS2UR, dst)
}

// lowerUniformConst loads from constant memory into uniform registers, from so many
// bytes beyond the node's address.
func (s *selector) lowerUniformConst(n *node, dst arg, beyond int64) {
	in := s.emit(opULDCX, dst)
	o := s.uniformIndex(n)
	if o.Reg != ir.NoReg {
		in.src[0], in.nsrc = valueArg(value(o.Reg), 0, 1), 1
	}
	s.access(in, n, o.Var, noValue, int64(o.Imm)+beyond)
	if len(n.dst) > 1 {
		in.width = 4 * dst.n
	}
}

// uniformVectorLoad says whether a node loads two words or four from constant memory that
// all readers take from uniform registers.
func (s *selector) uniformVectorLoad(n *node) bool {
	if n.op != ir.Ld || n.space != ir.Const || len(n.dst) != 2 && len(n.dst) != 4 || bits(n.typ) != 32 || n.guard != noValue {
		return false
	}
	if !s.f.t.uniform || !s.uniformAddress(n) {
		return false
	}
	for _, v := range n.dst {
		if v < 0 || s.want[v] == 0 || s.want[v]&wantGPR != 0 || s.twin[v] != noValue {
			return false
		}
		if vi := &s.f.vals[v]; vi.defs != 1 || !vi.uniform || vi.words != 1 || vi.file != fileGeneral {
			return false
		}
	}
	return true
}

// pairUniform makes two values the words of one in uniform registers.
func (s *selector) pairUniform(vals []value) arg {
	g := s.newValue(2, fileUniform)
	for w, v := range vals {
		s.f.sub[v] = subst{v: g, w: uint8(w)}
	}
	return valueArg(g, 0, 2)
}

// lowerUniformPair lowers what computes 64 bits to a uniform instruction for each word
// that somebody reads, a product of words to one.
func (s *selector) lowerUniformPair(n *node, d value) error {
	if n.op == ir.Ld {
		s.lowerUniformConst(n, valueArg(d, 0, 2), 0)
		return nil
	}
	if n.op == ir.Mul {
		s.emit(opUIMADWIDE, valueArg(d, 0, 2), s.uniOperand(n.src[0]), s.uniOperand(n.src[1]))
		return nil
	}
	if s.startPointer(n, d) || s.stepPointer(n, d) {
		return nil
	}
	carry := valueArg(s.newValue(1, fileUniformPred), 0, 1)
	for w := uint8(0); w < 2; w++ {
		if w == 1 && (s.want[d]|s.want[n.dst[0]])&wantHi == 0 {
			break
		}
		args := make([]arg, 0, 3)
		switch {
		case n.op == ir.Cvt:
			args = append(args, s.uniOperand(n.src[0]))
		case n.op == ir.Shl:
			for k := range w + 1 {
				args = append(args, s.uniWord(n.src[0], k))
			}
		default:
			for _, o := range n.src {
				args = append(args, s.uniWord(o, w))
			}
		}
		switch {
		case n.op == ir.Shl || n.op == ir.Cvt && w == 1:
			s.emit(opUSHF, valueArg(d, w, 1), args...)
		case n.op != ir.Add:
			s.emit(opUMOV, valueArg(d, w, 1), args...)
		case w == 0:
			s.emit(opUIADD3, valueArg(d, 0, 1), args...).dst[1] = carry
		default:
			s.emit(opUIADD3, valueArg(d, 1, 1), append(args, carry)...)
		}
	}
	return nil
}

// uniWord returns word w of a 64-bit operand of a uniform instruction.
func (s *selector) uniWord(o ir.Operand, w uint8) arg {
	if o.Kind == ir.OperandReg {
		v := s.local(value(o.Reg))
		s.want[v] |= wantLo<<w | wantUni
		return valueArg(s.twinOf(v), w, 1)
	}
	return arg{kind: argImm, imm: int64(int32(o.Imm >> (32 * w)))}
}

// uniPair returns a 64-bit operand of a uniform instruction.
func (s *selector) uniPair(o ir.Operand) arg {
	v := s.local(value(o.Reg))
	s.want[v] |= wantLo | wantHi | wantUni
	return valueArg(s.twinOf(v), 0, 2)
}

// startPointer emits what brings a parameter to a pointer in uniform registers.
func (s *selector) startPointer(n *node, d value) bool {
	if n.op != ir.Mov && n.op != ir.Cvta || n.src[0].Kind != ir.OperandReg {
		return false
	}
	p := s.f.defOf(value(n.src[0].Reg))
	if p == nil || !isParam(p) {
		return false
	}
	s.emit(opULDC, valueArg(d, 0, 2), arg{kind: argConst, imm: int64(p.src[0].Param)})
	return true
}

// stepPointer emits the step of a pointer in uniform registers by a product.
func (s *selector) stepPointer(n *node, d value) bool {
	if n.op != ir.Add {
		return false
	}
	for i := range n.src {
		if n.src[i].Kind != ir.OperandReg || n.src[1-i].Kind != ir.OperandReg || s.f.vals[d].defs == 1 && !s.summed[d] || !s.wideProduct(value(n.src[i].Reg), true) {
			continue
		}
		p := s.f.defOf(value(n.src[i].Reg))
		s.emit(opUIMADWIDE, valueArg(d, 0, 2), s.uniOperand(p.src[0]), s.uniOperand(p.src[1]), s.uniPair(n.src[1-i]))
		return true
	}
	return false
}

func (s *selector) unsupported(n *node) error {
	return fmt.Errorf("no machine instruction for %v.%v at %v", n.op, n.typ, s.f.k.Instrs[n.pc].Pos)
}

// simple maps operations with one machine instruction a word, by type class.
type simpleRule struct {
	i32, f32, f64, half mop
}

var simple = map[ir.Op]simpleRule{
	ir.Min:       {opIMNMX, opFMNMX, opInvalid, opHMNMX2},
	ir.Max:       {opIMNMX, opFMNMX, opInvalid, opHMNMX2},
	ir.Abs:       {opIABS, opFADD, opDADD, opHADD2},
	ir.Neg:       {opIADD3, opFADD, opDADD, opHADD2},
	ir.Mul24:     {opIMAD, 0, 0, 0},
	ir.Mad24:     {opIMAD, 0, 0, 0},
	ir.Sad:       {opVABSDIFF, 0, 0, 0},
	ir.Vabsdiff4: {opVABSDIFF, 0, 0, 0},
	ir.Add:       {opIADD3, opFADD, opDADD, opHADD2},
	ir.Sub:       {opIADD3, opFADD, opDADD, opHADD2},
	ir.Mul:       {opIMAD, opFMUL, opDMUL, opHMUL2},
	ir.Mad:       {opIMAD, opFFMA, opDFMA, opHFMA2},
	ir.Fma:       {opIMAD, opFFMA, opDFMA, opHFMA2},
	ir.And:       {opLOP3, 0, 0, 0},
	ir.Or:        {opLOP3, 0, 0, 0},
	ir.Xor:       {opLOP3, 0, 0, 0},
	ir.Not:       {opLOP3, 0, 0, 0},
	ir.CNot:      {opISETP, 0, 0, 0},
	ir.Lop3:      {opLOP3, 0, 0, 0},
	ir.Shl:       {opSHF, 0, 0, 0},
	ir.Shr:       {opSHF, 0, 0, 0},
	ir.Shf:       {opSHF, 0, 0, 0},
	ir.Bfi:       {opLOP3, 0, 0, 0},
	ir.Prmt:      {opPRMT, 0, 0, 0},
	ir.Szext:     {opPRMT, 0, 0, 0},
	ir.Bmsk:      {opSHF, 0, 0, 0},
	ir.Brev:      {opBREV, 0, 0, 0},
	ir.Popc:      {opPOPC, 0, 0, 0},
	ir.Clz:       {opFLO, 0, 0, 0},
	ir.Bfind:     {opFLO, 0, 0, 0},
	ir.Dp4a:      {opIDP, 0, 0, 0},
	ir.Dp2a:      {opIDP, 0, 0, 0},
	ir.Copysign:  {0, opLOP3, opLOP3, 0},
}

// ruleFor picks the operation of a simple rule for a type.
func (r simpleRule) ruleFor(t ir.Type) mop {
	switch t {
	case ir.F32, ir.TF32:
		return r.f32
	case ir.F64:
		return r.f64
	case ir.F16, ir.F16x2, ir.BF16, ir.BF16x2:
		return r.half
	}
	return r.i32
}

// lower emits the machine instructions of a node for general registers.
func (s *selector) lower(n *node) error {
	if s.moveConstants(n) {
		return nil
	}
	switch n.op {
	case ir.Nop:
		return nil
	case ir.Mov:
		return s.lowerMov(n)
	case ir.Cvta:
		s.copyWords(n)
		return nil
	case ir.Cvt:
		return s.lowerCvt(n)
	case ir.Ld, ir.Ldu:
		return s.lowerLoad(n)
	case ir.St:
		return s.lowerStore(n)
	case ir.Atom, ir.Red:
		return s.lowerAtomic(n)
	case ir.CpAsync, ir.CpAsyncCommit, ir.CpAsyncWait, ir.Prefetch:
		return s.lowerAsync(n)
	case ir.Bra, ir.Brx, ir.Exit, ir.Trap:
		return s.lowerBranch(n)
	case ir.Bar, ir.BarRed, ir.BarWarp, ir.Membar, ir.Nanosleep, ir.Shfl, ir.Vote, ir.Match, ir.Activemask, ir.Redux, ir.Elect:
		return s.lowerSync(n)
	case ir.Setp, ir.Set, ir.Selp, ir.Slct, ir.Testp, ir.Isspacep:
		return s.lowerSelect(n)
	case ir.Mma:
		return s.lowerMma(n)
	case ir.Movmatrix:
		s.emit(opMOVM, s.dest(0, 1), s.word(n.src[0], 0))
		return nil
	case ir.Div, ir.Rem, ir.Rcp, ir.Sqrt, ir.Rsqrt, ir.Sin, ir.Cos, ir.Lg2, ir.Ex2, ir.Tanh, ir.Bfe, ir.Fns:
		return s.lowerExpansion(n)
	case ir.AddC, ir.SubC, ir.MadC:
		return s.lowerCarry(n)
	}
	if n.typ == ir.Pred {
		return s.lowerPredLogic(n)
	}
	if isInt(n.typ) {
		switch n.op {
		case ir.Add, ir.Sub, ir.Mul, ir.Mad, ir.Shl, ir.Shr, ir.And, ir.Or, ir.Xor, ir.Not, ir.Min, ir.Max, ir.Neg, ir.Abs:
			return s.lowerInt(n)
		}
	}
	if n.typ.Packed().IsInt() && s.lowerPairs(n) {
		return nil
	}
	return s.lowerSimple(n)
}

// lowerSimple lowers an operation with one instruction (a word, for 64-bit
// integers).
func (s *selector) lowerSimple(n *node) error {
	r, ok := simple[n.op]
	op := r.ruleFor(n.typ)
	if !ok || op == opInvalid {
		if n.op == ir.Min || n.op == ir.Max { // fp64
			return s.minMax64(n)
		}
		return s.unsupported(n)
	}
	if joinsWords(n) {
		s.emit(opMOV, s.dest(0, 1), s.mixOne(n.src[1], 0))
		s.emit(opMOV, s.dest(1, 1), s.mixOne(n.src[0], 0))
		return nil
	}
	src := n.src
	if !isInt(n.typ) {
		src = s.plains(src, n.typ, n.op != ir.Fma && n.op != ir.Mad)
		op = s.picking(op)
		if fused := s.contract(n, src); fused != nil {
			src = s.plains(fused, n.typ, false)
			op = s.picking(simple[ir.Fma].ruleFor(n.typ))
		}
	}
	if n.typ == ir.F64 {
		s.emit(op, s.dest(0, 2), s.doubles(src)...)
		return nil
	}
	for w := uint8(0); w < s.f.vals[n.dst[0]].words; w++ {
		if n.op == ir.Neg {
			// What it reads is loaded into a general register (sm_90 machine code of a
			// loop over a table in constant memory that negates one of four words: deploy/
			// calibrate/datasets/h200-constant-tables gmm).
			s.emit(op, s.dest(w, 1), s.word(src[0], w))
			continue
		}
		s.emit(op, s.dest(w, 1), s.mixSum(n, w, src)...)
	}
	return nil
}

// mixSum is mix of a node's operands; of two constants in a multiply-add over
// floating-point numbers the addend is the immediate (sm_90 machine code of lavamd's
// expf: deploy/calibrate/datasets/h200-2026-11-22-project-d).
func (s *selector) mixSum(n *node, w uint8, src []ir.Operand) []arg {
	if len(src) != 3 || isInt(n.typ) {
		return s.mix(w, src...)
	}
	args := s.mix(w, src[2], src[0], src[1])
	args[0], args[1], args[2] = args[1], args[2], args[0]
	return args
}

// carrier is the block whose code a node is part of.
func (f *fn) carrier(n *node) int {
	if m := f.blocks[n.block].merged; m >= 0 {
		return m
	}
	return int(n.block)
}
