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
			s.sub[v] = subst{v: s.twinOf(v)}
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
			// calibrate/validation/fourth gmm).
			s.emit(op, s.dest(w, 1), s.word(src[0], w))
			continue
		}
		s.emit(op, s.dest(w, 1), s.mixSum(n, w, src)...)
	}
	return nil
}

// mixSum is mix of a node's operands; of two constants in a multiply-add over
// floating-point numbers the addend is the immediate (sm_90 machine code of lavamd's
// expf: deploy/calibrate/validation/sixth).
func (s *selector) mixSum(n *node, w uint8, src []ir.Operand) []arg {
	if len(src) != 3 || isInt(n.typ) {
		return s.mix(w, src...)
	}
	args := s.mix(w, src[2], src[0], src[1])
	args[0], args[1], args[2] = args[1], args[2], args[0]
	return args
}
