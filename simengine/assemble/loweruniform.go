package assemble

import "github.com/warptune/warptune/simengine/ir"

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
		s.sub[v] = subst{v: g, w: uint8(w)}
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

// copyTwins copies what was brought to general registers to the uniform ones that read it.
func (s *selector) copyTwins(vals []value) {
	for _, v := range vals {
		if v < 0 || s.twin[v] == noValue || s.f.vals[v].file != fileGeneral {
			continue
		}
		for w := range s.f.vals[v].words {
			if w == 0 || s.want[v]&wantHi != 0 {
				from := valueArg(v, w, 1)
				if b, bound := s.sub[v]; bound { // an element of a vector
					from = valueArg(b.v, b.w+w, 1)
				}
				s.emit(opR2UR, valueArg(s.twin[v], w, 1), from)
			}
		}
	}
}
