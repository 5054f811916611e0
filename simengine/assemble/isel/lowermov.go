package isel

import (
	"slices"

	"github.com/warptune/warptune/simengine/assemble/hir"
	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/assemble/vreg"
	"github.com/warptune/warptune/simengine/ir"
)

// copyWords emits a move of every demanded word of the only source.
func (s *selector) copyWords(n *hir.Node) {
	for w := uint8(0); w < s.hir.Values[n.Dst[0]].Words; w++ {
		if s.demand[n.Dst[0]]&(demandLow<<w) != 0 {
			s.emit(mir.OpMOV, s.dest(w, 1), s.flexible(n.Src[0], w))
		}
	}
}

// onlyMovesWords lowers a 64-bit node that does nothing but move the words of its source, and
// reports whether it is one.
func (s *selector) onlyMovesWords(n *hir.Node) bool {
	if s.hir.Values[n.Dst[0]].Words != 2 || wordSource(n, 0) == wordComputed || wordSource(n, 1) == wordComputed {
		return false
	}
	for w := range uint8(2) {
		if s.demand[n.Dst[0]]&(demandLow<<w) == 0 {
			continue
		}
		from := mir.Arg{Kind: mir.ArgZero}
		if k := wordSource(n, w); k >= 0 {
			from = s.gprWord(n.Src[0], uint8(k))
		}
		s.emit(mir.OpMOV, s.dest(w, 1), from)
	}
	return true
}

// lowerMov lowers moves, packs, unpacks and reads of special registers.
func (s *selector) lowerMov(n *hir.Node) error {
	f := s.hir
	if len(n.Dst) > 1 {
		s.unpack(n)
		return nil
	}
	if len(n.Src) > 1 { // pack
		w := f.Values[n.Dst[0]].Words
		per := w / uint8(len(n.Src))
		if per == 0 {
			s.emit(mir.OpPRMT, s.dest(0, 1), s.operands(0, n.Src[:2]...)...)
			return nil
		}
		for i, o := range n.Src {
			at := uint8(i) * per
			if n.Guard == vreg.None && f.Values[n.Dst[0]].Defs == 1 && s.inPlaceOf(o, per) {
				for k := range per {
					s.gprWord(o, k)
				}
				s.sub[vreg.Value(o.Reg)] = subst{v: n.Dst[0], w: at}
				continue
			}
			for k := uint8(0); k < per; k++ {
				s.emit(mir.OpMOV, s.dest(at+k, 1), s.flexible(o, k))
			}
		}
		return nil
	}
	if n.Src[0].Kind == ir.OperandSpecial {
		for w := uint8(0); w < f.Values[n.Dst[0]].Words; w++ {
			s.emit(mir.OpS2R, s.dest(w, 1))
		}
		return nil
	}
	if f.Values[n.Dst[0]].File == vreg.Predicate {
		s.emit(mir.OpPLOP3, s.dest(0, 1), s.pred(n.Src[0]))
		return nil
	}
	s.copyWords(n)
	return nil
}

// unpack takes a value apart into words, or a word into halves.
func (s *selector) unpack(n *hir.Node) {
	src, all, parts := n.Src[0], hir.Words(n.Type), uint8(len(n.Dst))
	if src.Kind == ir.OperandReg {
		all = s.hir.Values[src.Reg].Words
	}
	for i, d := range n.Dst {
		switch at := uint8(i) * all / parts; {
		case d < 0 || s.demand[d] == 0:
		case all >= parts:
			if s.isPartOf(d, src, at, all/parts) {
				continue
			}
			for w := uint8(0); w < all/parts; w++ {
				s.emit(mir.OpMOV, mir.ValueWords(d, w, 1), s.gprWord(src, at+w))
			}
		case src.Kind == ir.OperandReg: // halves of a word
			s.emit(mir.OpPRMT, mir.ValueWords(d, 0, 1), s.gprWord(src, at))
		default:
			part := uint(hir.Bits(n.Type)) / uint(parts)
			s.emit(mir.OpMOV, mir.ValueWords(d, 0, 1), mir.Arg{Kind: mir.ArgImm, Imm: int64(src.Imm >> (part * uint(i)) & (1<<part - 1))})
		}
	}
}

// isPartOf makes a result of an unpack the words of its source themselves, from word at on, if
// neither has other definitions, or the result is only shuffled. It reports whether it did.
func (s *selector) isPartOf(d vreg.Value, src ir.Operand, at, words uint8) bool {
	f := s.hir
	if src.Kind != ir.OperandReg || s.n.Guard != vreg.None || f.Values[d].Defs != 1 || f.Values[src.Reg].Defs != 1 && !s.onlyShuffled(d, vreg.Value(src.Reg)) || f.Values[d].File != vreg.General {
		return false
	}
	if _, bound := s.sub[d]; bound || s.twin[d] != vreg.None || f.Values[d].Words != words {
		return false
	}
	first := s.gprWord(src, at)
	if first.Kind != mir.ArgValue || first.Value != vreg.Value(src.Reg) || first.Word != at {
		return false
	}
	for w := uint8(1); w < words; w++ {
		s.gprWord(src, at+w)
	}
	s.sub[d] = subst{v: first.Value, w: at}
	return true
}

// onlyShuffled reports whether shuffles are all that reads the word d of variable v that the present node takes out,
// and come before v is written again.
//
// Evidence, ptxas 13.0 for sm_90a: SHFL.BFLY of both words of 64-bit keys that a loop exchanges (bitonic_rows).
func (s *selector) onlyShuffled(d, v vreg.Value) bool {
	nodes, reads := s.hir.Blocks[s.b].Nodes, int32(0)
	for i := len(nodes) - 1; i >= 0 && &s.hir.Nodes[nodes[i]] != s.n; i-- {
		n := &s.hir.Nodes[nodes[i]]
		if slices.Contains(n.Dst, v) {
			reads = 0 // of those, which come too late
		}
		if n.Op == ir.Shfl && n.Src[0].Kind == ir.OperandReg && vreg.Value(n.Src[0].Reg) == d {
			reads++
		}
	}
	return reads > 0 && reads == int32(s.uses[d])
}

// joinsWords reports whether a node puts a word into the upper word of 64 bits.
func joinsWords(n *hir.Node) bool {
	if n.Op != ir.Bfi || hir.Words(n.Type) != 2 || len(n.Src) != 4 {
		return false
	}
	at, size := &n.Src[2], &n.Src[3]
	return at.Kind == ir.OperandImm && at.Imm == 32 && size.Kind == ir.OperandImm && size.Imm >= 32
}
