package assemble

import "github.com/warptune/warptune/simengine/ir"

// lowerBranch lowers control transfers. A branch to a block that only exits is
// an exit; one to the next block is nothing.
func (s *selector) lowerBranch(n *node) error {
	f := s.f
	switch n.op {
	case ir.Exit:
		s.emit(opEXIT, arg{})
	case ir.Trap:
		s.emit(opTRAP, arg{})
	case ir.Brx:
		args := make([]arg, 0, 1)
		if len(n.src) > 0 {
			args = append(args, s.word(n.src[0], 0))
		}
		s.emit(opBRX, arg{}, args...)
	case ir.Bra:
		succs := f.blocks[s.b].succs
		if len(succs) == 0 {
			return nil
		}
		target := succs[len(succs)-1]
		switch {
		case n.guard == noValue && s.follows(target):
		case f.exitBlock(target):
			s.emit(opEXIT, arg{})
		default:
			s.emit(opBRA, arg{})
		}
	}
	return nil
}

// follows says whether block b comes next in the emitted order.
func (s *selector) follows(b int) bool {
	f := s.f
	for i, x := range f.order {
		if x == s.b {
			return i+1 < len(f.order) && f.order[i+1] == b
		}
	}
	return false
}

// closeBlock emits what a block that falls through needs at its end: an exit
// when its successor is one, a branch when its successor does not follow.
func (s *selector) closeBlock() {
	f := s.f
	hb := &f.blocks[s.b]
	if len(hb.succs) == 0 {
		return
	}
	if len(hb.nodes) > 0 {
		if n := &f.nodes[hb.nodes[len(hb.nodes)-1]]; n.isTerminator() && n.guard == noValue {
			return
		}
	}
	switch next := hb.succs[0]; {
	case f.exitBlock(next):
		s.emit(opEXIT, arg{})
	case !s.follows(next):
		s.emit(opBRA, arg{})
	}
}

// lowerSync lowers barriers, fences and warp-wide operations.
func (s *selector) lowerSync(n *node) error {
	dst := arg{}
	if len(n.dst) > 0 && n.dst[0] >= 0 && s.want[n.dst[0]] != 0 {
		dst = valueArg(n.dst[0], 0, 1)
	}
	args := make([]arg, 0, 4)
	switch n.op {
	case ir.Bar, ir.BarRed:
		if n.op == ir.BarRed {
			args = append(args, s.pred(n.src[len(n.src)-1]))
		}
		s.emit(opBAR, dst, args...)
	case ir.BarWarp:
		s.emit(opWARPSYNC, dst)
	case ir.Membar:
		s.emit(opMEMBAR, dst)
	case ir.Nanosleep:
		s.emit(opNANOSLEEP, dst)
	case ir.Shfl:
		for i := 0; i < len(n.src) && i < 3; i++ {
			if n.src[i].Kind == ir.OperandImm {
				args = append(args, s.anyWord(n.src[i], 0))
			} else {
				args = append(args, s.word(n.src[i], 0))
			}
		}
		in := s.emit(opSHFL, dst, args...)
		if len(n.dst) > 1 && n.dst[1] >= 0 && s.want[n.dst[1]] != 0 {
			in.dst[1] = valueArg(n.dst[1], 0, 1)
		}
	default:
		op := map[ir.Op]mop{ir.Vote: opVOTE, ir.Match: opMATCH, ir.Activemask: opVOTE, ir.Redux: opREDUX, ir.Elect: opVOTE}[n.op]
		for _, o := range n.src {
			if o.Kind != ir.OperandReg || len(args) == 4 {
				continue
			}
			if s.f.vals[o.Reg].file == filePred {
				args = append(args, s.pred(o))
			} else {
				args = append(args, s.word(o, 0))
			}
		}
		s.emit(op, dst, args...)
	}
	return nil
}

// lowerSelect lowers comparisons and selections.
func (s *selector) lowerSelect(n *node) error {
	switch n.op {
	case ir.Setp:
		s.compare(n, valueArg(n.dst[0], 0, 1), arg{})
		if len(n.dst) > 1 && n.dst[1] >= 0 {
			s.buf[len(s.buf)-1].dst[1] = valueArg(n.dst[1], 0, 1)
		}
	case ir.Set:
		if s.setsWord(n) {
			return nil
		}
		p := s.carry()
		s.compare(n, p, arg{})
		s.emit(opSEL, s.dest(0, 1), p)
	case ir.Testp, ir.Isspacep:
		s.emit(opISETP, s.dest(0, 1), s.word(n.src[0], 0))
	case ir.Selp, ir.Slct:
		var p arg
		if n.op == ir.Slct {
			p = s.carry()
			s.emit(opISETP, p, s.word(n.src[2], 0))
		} else {
			p = s.pred(n.src[2])
		}
		if s.f.vals[n.dst[0]].file == filePred {
			s.emit(opPLOP3, s.dest(0, 1), s.pred(n.src[0]), s.pred(n.src[1]), p)
			return nil
		}
		op := opSEL
		if n.typ == ir.F32 {
			op = opFSEL
		}
		for w := uint8(0); w < s.f.vals[n.dst[0]].words; w++ {
			s.emit(op, s.dest(w, 1), append(s.mix(w, n.src[0], n.src[1]), p)...)
		}
	}
	return nil
}

// setsWord lowers a comparison of floats whose result is a word to the one instruction
// that there is for it: FSET and HSET2 (162 in the sm_90 code of HeCBench's crossEntropy).
func (s *selector) setsWord(n *node) bool {
	op := opInvalid
	switch n.styp {
	case ir.F32:
		op = opFSET
	case ir.F16, ir.F16x2, ir.BF16, ir.BF16x2:
		op = opHSET2
	}
	if op == opInvalid || s.f.vals[n.dst[0]].words != 1 {
		return false
	}
	args := s.mix(0, s.plains(n.src[:2], n.styp, true)...)
	if len(n.src) > 2 {
		args = append(args, s.pred(n.src[2]))
	}
	s.emit(op, s.dest(0, 1), args...)
	return true
}

// compare emits the comparison of a setp or set into dst, combined with
// another predicate when extra is one.
func (s *selector) compare(n *node, dst, extra arg) {
	t := n.typ
	if n.op == ir.Set {
		t = n.styp
	}
	if len(n.src) > 2 && extra.kind == argNone {
		extra = s.pred(n.src[2])
	}
	with := func(a []arg) []arg {
		if extra.kind != argNone {
			a = append(a, extra)
		}
		return a
	}
	switch {
	case t == ir.F64:
		x := s.plains(n.src[:2], t, true)
		s.emit(opDSETP, dst, with(s.doubles(x))...)
	case t == ir.F32:
		s.emit(opFSETP, dst, with(s.mix(0, s.plains(n.src[:2], t, true)...))...)
	case isHalves(t):
		s.emit(opHSETP2, dst, with(s.mix(0, s.plains(n.src[:2], t, true)...))...)
	case words(t) == 2:
		c := s.carry()
		s.emit(opISETP, c, s.mix(0, n.src[0], n.src[1])...)
		s.emit(opISETP, dst, with(append(s.mix(1, n.src[0], n.src[1]), c))...)
	default:
		s.compare32(n, dst, extra, with)
	}
}

// compare32 emits a 32-bit integer comparison; of two uniform values one of
// which lives in a uniform register, on the uniform datapath.
func (s *selector) compare32(n *node, dst, extra arg, with func([]arg) []arg) {
	a, b := n.src[0], n.src[1]
	inUniform := func(o ir.Operand) bool {
		return o.Kind == ir.OperandReg && s.f.vals[o.Reg].file == fileUniform
	}
	if (inUniform(a) && s.nonGPR(b) > 0 || inUniform(b) && s.nonGPR(a) > 0) && extra.kind == argNone {
		u := valueArg(s.newValue(1, fileUniformPred), 0, 1)
		s.emit(opUISETP, u, s.uniOperand(a), s.uniOperand(b))
		s.emit(opPLOP3, dst, u)
		return
	}
	if extra.kind == argNone && s.testBits(n, dst) {
		return
	}
	s.emit(opISETP, dst, with(s.mix(0, a, b))...)
}

// lowerPredLogic lowers logic on predicates; a comparison with one reader
// takes the operation in, one of floating point an exclusive or, too (FSETP.LT.XOR in
// point_in_polygon's machine code, deploy/calibrate/validation/third).
func (s *selector) lowerPredLogic(n *node) error {
	if len(n.src) == 2 {
		for i := range 2 {
			d := s.fold(n.src[i], false)
			if d != nil && d.op == ir.Setp && len(d.src) == 2 && len(d.dst) == 1 && (d.typ == ir.F32 || isInt(d.typ) && words(d.typ) == 1 && n.op != ir.Xor) {
				s.compare(d, s.dest(0, 1), s.pred(n.src[1-i]))
				return nil
			}
		}
	}
	args := make([]arg, 0, 2)
	for _, o := range n.src {
		args = append(args, s.pred(o))
	}
	s.emit(opPLOP3, s.dest(0, 1), args...)
	return nil
}
