package assemble

import "github.com/warptune/warptune/simengine/ir"

// copyWords emits a move of every wanted word of the only source.
func (s *selector) copyWords(n *node) {
	for w := uint8(0); w < s.f.vals[n.dst[0]].words; w++ {
		if s.want[n.dst[0]]&(wantLo<<w) != 0 {
			s.emit(opMOV, s.dest(w, 1), s.mixOne(n.src[0], w))
		}
	}
}

// movesWords lowers a node of two words that does nothing but move words of its source.
func (s *selector) movesWords(n *node) bool {
	if s.f.vals[n.dst[0]].words != 2 || movedFrom(n, 0) == wordComputed || movedFrom(n, 1) == wordComputed {
		return false
	}
	for w := range uint8(2) {
		if s.want[n.dst[0]]&(wantLo<<w) == 0 {
			continue
		}
		from := arg{kind: argZero}
		if k := movedFrom(n, w); k >= 0 {
			from = s.word(n.src[0], uint8(k))
		}
		s.emit(opMOV, s.dest(w, 1), from)
	}
	return true
}

// lowerMov lowers moves, packs, unpacks and special register reads.
func (s *selector) lowerMov(n *node) error {
	f := s.f
	if len(n.dst) > 1 {
		s.unpack(n)
		return nil
	}
	if len(n.src) > 1 { // pack
		w := f.vals[n.dst[0]].words
		per := w / uint8(len(n.src))
		if per == 0 {
			s.emit(opPRMT, s.dest(0, 1), s.mix(0, n.src[:2]...)...)
			return nil
		}
		for i, o := range n.src {
			at := uint8(i) * per
			if n.guard == noValue && f.vals[n.dst[0]].defs == 1 && s.inPlaceOf(o, per) {
				for k := range per {
					s.word(o, k)
				}
				s.sub[value(o.Reg)] = subst{v: n.dst[0], w: at}
				continue
			}
			for k := uint8(0); k < per; k++ {
				s.emit(opMOV, s.dest(at+k, 1), s.mixOne(o, k))
			}
		}
		return nil
	}
	if n.src[0].Kind == ir.OperandSpecial {
		for w := uint8(0); w < f.vals[n.dst[0]].words; w++ {
			s.emit(opS2R, s.dest(w, 1))
		}
		return nil
	}
	if f.vals[n.dst[0]].file == filePred {
		s.emit(opPLOP3, s.dest(0, 1), s.pred(n.src[0]))
		return nil
	}
	s.copyWords(n)
	return nil
}

// unpack takes a word apart, or words from each other.
func (s *selector) unpack(n *node) {
	src, all, parts := n.src[0], words(n.typ), uint8(len(n.dst))
	if src.Kind == ir.OperandReg {
		all = s.f.vals[src.Reg].words
	}
	for i, d := range n.dst {
		switch at := uint8(i) * all / parts; {
		case d < 0 || s.want[d] == 0:
		case all >= parts:
			if s.isPartOf(d, src, at, all/parts) {
				continue
			}
			for w := uint8(0); w < all/parts; w++ {
				s.emit(opMOV, valueArg(d, w, 1), s.word(src, at+w))
			}
		case src.Kind == ir.OperandReg: // halves of a word
			s.emit(opPRMT, valueArg(d, 0, 1), s.word(src, at))
		default:
			part := uint(bits(n.typ)) / uint(parts)
			s.emit(opMOV, valueArg(d, 0, 1), arg{kind: argImm, imm: int64(src.Imm >> (part * uint(i)) & (1<<part - 1))})
		}
	}
}

// isPartOf has what an unpack takes out of a value, words from one on, be these words, if
// neither is written elsewhere.
func (s *selector) isPartOf(d value, src ir.Operand, at, words uint8) bool {
	f := s.f
	if src.Kind != ir.OperandReg || s.n.guard != noValue || f.vals[d].defs != 1 || f.vals[src.Reg].defs != 1 || f.vals[d].file != fileGeneral {
		return false
	}
	if _, bound := s.sub[d]; bound || s.twin[d] != noValue || f.vals[d].words != words {
		return false
	}
	first := s.word(src, at)
	if first.kind != argValue || first.v != value(src.Reg) || first.w != at {
		return false
	}
	for w := uint8(1); w < words; w++ {
		s.word(src, at+w)
	}
	s.sub[d] = subst{v: first.v, w: at}
	return true
}

// joinsWords says that a node puts a word into the upper one of 64 bits.
func joinsWords(n *node) bool {
	if n.op != ir.Bfi || words(n.typ) != 2 || len(n.src) != 4 {
		return false
	}
	at, size := &n.src[2], &n.src[3]
	return at.Kind == ir.OperandImm && at.Imm == 32 && size.Kind == ir.OperandImm && size.Imm >= 32
}
