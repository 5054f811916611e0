package isel

import (
	"github.com/warptune/warptune/simengine/assemble/hir"
	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/assemble/vreg"
	"github.com/warptune/warptune/simengine/ir"
)

// Instructions of the uniform datapath.

// uniOperand returns a 32-bit operand of a uniform instruction.
func (s *selector) uniOperand(o ir.Operand) mir.Arg {
	switch o.Kind {
	case ir.OperandImm:
		return mir.Arg{Kind: mir.ArgImm, Imm: int64(o.Imm)}
	case ir.OperandReg:
		v := s.localCopy(vreg.Value(o.Reg))
		s.demand[v] |= demandLow | demandUniform
		return mir.ValueWords(s.twinOf(v), 0, 1)
	case ir.OperandVar:
		if s.hir.Kernel.Vars[o.Var].Space == ir.Shared && s.hir.Target.SharedWindow {
			b := s.sharedBase(o)
			s.demand[b] |= demandLow | demandUniform
			return mir.ValueWords(s.twinOf(b), 0, 1)
		}
	}
	return mir.Arg{Kind: mir.ArgImm}
}

// lowerUniform lowers a node to uniform instructions that write d.
func (s *selector) lowerUniform(n *hir.Node, d vreg.Value) error {
	dst := mir.ValueWords(d, 0, 1)
	if s.hir.Values[d].Words == 2 {
		return s.lowerUniformPair(n, d)
	}
	if s.isWanted(n.Dst[0]) && s.lowerWanted(n, d) {
		return nil
	}
	args := make([]mir.Arg, 0, 3)
	if n.Op == ir.Ld && n.Space == ir.Const {
		s.lowerUniformConst(n, dst, 0)
		return nil
	}
	if n.Op != ir.Mov || n.Src[0].Kind != ir.OperandSpecial {
		for _, o := range n.Src {
			args = append(args, s.uniOperand(o))
		}
	}
	switch n.Op {
	case ir.Mov, ir.Cvt, ir.Not, ir.Neg:
		if n.Op == ir.Mov && n.Src[0].Kind == ir.OperandSpecial {
			s.readUniform(n, dst)
			return nil
		}
		s.emit(mir.OpUMOV, dst, args...)
	case ir.Add, ir.Sub:
		s.emit(mir.OpUIADD3, dst, args...)
	case ir.Shl, ir.Shr:
		s.emit(mir.OpUSHF, dst, args...)
	case ir.And, ir.Or, ir.Xor:
		s.emit(mir.OpULOP3, dst, args...)
	case ir.Mul, ir.Mad:
		s.emit(mir.OpUIMAD, dst, args...)
	case ir.Ld:
		s.emit(mir.OpULDC, dst)
	default:
		return s.unsupported(n)
	}
	return nil
}

// readUniform reads a special register into a uniform one.
func (s *selector) readUniform(n *hir.Node, dst mir.Arg) {
	if s.inPlace(n) {
		s.emit(mir.OpULDC, dst, mir.Arg{Kind: mir.ArgConst, N: 1})
		return
	}
	s.emit(mir.OpS2UR, dst)
}

// lowerUniformConst loads from constant memory into uniform registers, beyond bytes after the
// node's address.
func (s *selector) lowerUniformConst(n *hir.Node, dst mir.Arg, beyond int64) {
	in := s.emit(mir.OpULDCX, dst)
	o := s.uniformIndex(n)
	if o.Reg != ir.NoReg {
		in.Src[0], in.NSrc = mir.ValueWords(vreg.Value(o.Reg), 0, 1), 1
	}
	s.access(in, n, o.Var, vreg.None, int64(o.Imm)+beyond)
	if len(n.Dst) > 1 {
		in.Width = 4 * dst.N
	}
}

// uniformVectorLoad reports whether a node loads two or four words from constant memory that all
// readers take from uniform registers.
func (s *selector) uniformVectorLoad(n *hir.Node) bool {
	if n.Op != ir.Ld || n.Space != ir.Const || len(n.Dst) != 2 && len(n.Dst) != 4 || hir.Bits(n.Type) != 32 || n.Guard != vreg.None {
		return false
	}
	if !s.hir.Target.Uniform || !s.uniformAddress(n) {
		return false
	}
	for _, v := range n.Dst {
		if v < 0 || s.demand[v] == 0 || s.demand[v]&demandGeneral != 0 || s.twin[v] != vreg.None {
			return false
		}
		if vi := &s.hir.Values[v]; vi.Defs != 1 || !vi.Uniform || vi.Words != 1 || vi.File != vreg.General {
			return false
		}
	}
	return true
}

// pairUniform makes two values the words of one uniform pair.
func (s *selector) pairUniform(vals []vreg.Value) mir.Arg {
	g := s.newValue(2, vreg.Uniform)
	for w, v := range vals {
		s.sub[v] = subst{v: g, w: uint8(w)}
	}
	return mir.ValueWords(g, 0, 2)
}

// lowerUniformPair lowers a 64-bit node to one uniform instruction for each word that is read; a
// multiplication to one.
func (s *selector) lowerUniformPair(n *hir.Node, d vreg.Value) error {
	if n.Op == ir.Ld {
		s.lowerUniformConst(n, mir.ValueWords(d, 0, 2), 0)
		return nil
	}
	if s.isUniformLEA(n) {
		c := mir.ValueWords(s.newValue(1, vreg.UniformPredicate), 0, 1)
		s.emit(mir.OpULEA, mir.ValueWords(d, 0, 1), s.uniOperand(n.Src[0]), s.uniWord(n.Src[2], 0)).Dst[1] = c
		s.emit(mir.OpULEA, mir.ValueWords(d, 1, 1), s.uniOperand(n.Src[0]), s.uniWord(n.Src[2], 1), c)
		return nil
	}
	if n.Op == ir.Mul || n.Op == ir.Mad {
		s.multiplyUniform(n, d)
		return nil
	}
	if s.startPointer(n, d) || s.stepPointer(n, d) {
		return nil
	}
	if s.addsNear(n) {
		s.emit(mir.OpUIADD364, mir.ValueWords(d, 0, 2), s.uniPair(n.Src[0]), mir.Arg{Kind: mir.ArgImm, Imm: int64(n.Src[1].Imm)})
		return nil
	}
	carry := mir.ValueWords(s.newValue(1, vreg.UniformPredicate), 0, 1)
	for w := uint8(0); w < 2; w++ {
		if w == 1 && (s.demand[d]|s.demand[n.Dst[0]])&demandHigh == 0 {
			break
		}
		args := make([]mir.Arg, 0, 3)
		switch {
		case n.Op == ir.Cvt:
			args = append(args, s.uniOperand(n.Src[0]))
		case n.Op == ir.Shl:
			for k := range w + 1 {
				args = append(args, s.uniWord(n.Src[0], k))
			}
		case n.Op == ir.Shr:
			for k := w; k < 2; k++ {
				args = append(args, s.uniWord(n.Src[0], k))
			}
		default:
			for _, o := range n.Src {
				args = append(args, s.uniWord(o, w))
			}
		}
		switch {
		case n.Op == ir.And || n.Op == ir.Or || n.Op == ir.Xor:
			s.emit(mir.OpULOP3, mir.ValueWords(d, w, 1), args...)
		case n.Op == ir.Shl || n.Op == ir.Shr || n.Op == ir.Cvt && w == 1:
			s.emit(mir.OpUSHF, mir.ValueWords(d, w, 1), args...)
		case n.Op != ir.Add && n.Op != ir.Sub:
			s.emit(mir.OpUMOV, mir.ValueWords(d, w, 1), args...)
		case w == 0:
			s.emit(mir.OpUIADD3, mir.ValueWords(d, 0, 1), args...).Dst[1] = carry
		default:
			s.emit(mir.OpUIADD3, mir.ValueWords(d, 1, 1), append(args, carry)...)
		}
	}
	return nil
}

// multiplyUniform emits a multiplication of 64 bits: of words, with a sum, or of pairs.
func (s *selector) multiplyUniform(n *hir.Node, d vreg.Value) {
	args := []mir.Arg{s.uniWord(n.Src[0], 0), s.uniWord(n.Src[1], 0)}
	if n.Op == ir.Mad {
		args = append(args, s.uniPair(n.Src[2]))
	}
	if n.Mod&ir.ModWide != 0 {
		s.emit(mir.OpUIMADWIDE, mir.ValueWords(d, 0, 2), args...)
		return
	}
	t, u, upper := mir.ValueWords(s.newValue(1, vreg.Uniform), 0, 1), mir.ValueWords(s.newValue(1, vreg.Uniform), 0, 1), mir.ValueWords(d, 1, 1)
	s.emit(mir.OpUIMAD, t, s.uniWord(n.Src[0], 1), args[1])
	s.emit(mir.OpUIMADWIDE, mir.ValueWords(d, 0, 2), args...)
	s.emit(mir.OpUIMAD, u, args[0], s.uniWord(n.Src[1], 1), t)
	s.emit(mir.OpUIADD3, upper, upper, u)
}

// addsNear reports whether a node is the sum of 64 bits of a wanted value and a constant of 32 bits.
func (s *selector) addsNear(n *hir.Node) bool {
	return n.Op == ir.Add && s.isWanted(n.Dst[0]) && s.hir.Values[n.Dst[0]].Defs == 1 && n.Src[0].Kind == ir.OperandReg && s.isWanted(vreg.Value(n.Src[0].Reg)) && s.hir.Values[n.Src[0].Reg].Words == 2 &&
		n.Src[1].Kind == ir.OperandImm && int64(n.Src[1].Imm) == int64(int32(n.Src[1].Imm))
}

// uniWord returns word w of a 64-bit operand of a uniform instruction.
func (s *selector) uniWord(o ir.Operand, w uint8) mir.Arg {
	if o.Kind == ir.OperandReg {
		v := s.localCopy(vreg.Value(o.Reg))
		s.demand[v] |= demandLow<<w | demandUniform
		return mir.ValueWords(s.twinOf(v), w, 1)
	}
	return mir.Arg{Kind: mir.ArgImm, Imm: int64(int32(o.Imm >> (32 * w)))}
}

// uniPair returns a 64-bit operand of a uniform instruction.
func (s *selector) uniPair(o ir.Operand) mir.Arg {
	if o.Kind == ir.OperandImm {
		return s.uniformNumber(o.Imm)
	}
	v := s.localCopy(vreg.Value(o.Reg))
	s.demand[v] |= demandLow | demandHigh | demandUniform
	return mir.ValueWords(s.twinOf(v), 0, 2)
}

// startPointer emits the load of a parameter into a uniform pointer, and reports whether the node
// is one.
func (s *selector) startPointer(n *hir.Node, d vreg.Value) bool {
	if n.Op != ir.Mov && n.Op != ir.Cvta || n.Src[0].Kind != ir.OperandReg {
		return false
	}
	p := s.hir.DefOf(vreg.Value(n.Src[0].Reg))
	if p == nil || !hir.IsParam(p) {
		return false
	}
	s.emit(mir.OpULDC, mir.ValueWords(d, 0, 2), mir.Arg{Kind: mir.ArgConst, Imm: int64(p.Src[0].Param)})
	return true
}

// stepPointer emits the step of a uniform pointer by a multiplication, and reports whether the node
// is one.
func (s *selector) stepPointer(n *hir.Node, d vreg.Value) bool {
	if n.Op != ir.Add {
		return false
	}
	for i := range n.Src {
		if n.Src[i].Kind != ir.OperandReg || n.Src[1-i].Kind != ir.OperandReg || s.hir.Values[d].Defs == 1 && !s.steppedInPlace[d] || !s.isWideMul(vreg.Value(n.Src[i].Reg), true) {
			continue
		}
		p := s.hir.DefOf(vreg.Value(n.Src[i].Reg))
		s.emit(mir.OpUIMADWIDE, mir.ValueWords(d, 0, 2), s.uniOperand(p.Src[0]), s.uniOperand(p.Src[1]), s.uniPair(n.Src[1-i]))
		return true
	}
	return false
}

// copyTwins copies values from general registers to the uniform ones that are read.
func (s *selector) copyTwins(vals []vreg.Value) {
	for _, v := range vals {
		if v < 0 || s.twin[v] == vreg.None || s.hir.Values[v].File != vreg.General { // not of a predicate
			continue
		}
		for w := range s.hir.Values[v].Words {
			if w == 0 || s.demand[v]&demandHigh != 0 {
				from := mir.ValueWords(v, w, 1)
				if b, bound := s.sub[v]; bound { // an element of a vector
					from = mir.ValueWords(b.v, b.w+w, 1)
				}
				s.emit(mir.OpR2UR, mir.ValueWords(s.twin[v], w, 1), from)
			}
		}
	}
}
