package isel

import (
	"slices"

	"github.com/warptune/warptune/simengine/assemble/hir"
	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/assemble/vreg"
	"github.com/warptune/warptune/simengine/ir"
)

// Warpgroup MMAs.
//
// The accumulators lie in adjacent registers, in groups of up to four words a value, and are read and
// written in place. The descriptors of matrices in shared memory are words of one uniform value:
//
//	UMOV UR12, UR6             A's address
//	UMOV UR13, 0x40000040      A's layout
//	R2UR UR14, R4              B's address, computed by lanes
//	UMOV UR15, 0x40000040      B's layout
//	HGMMA R24, gdesc[UR12], R24

// lowerWgmma lowers a product.
func (s *selector) lowerWgmma(n *hir.Node) error {
	a, b, scale := wgmmaOperands(n)
	acc, bound := s.accumulators(n.Dst)
	args := make([]mir.Arg, 0, 3)
	if n.Matrix.FromShared {
		args = append(args, s.uniformWords(a[0], b))
	} else {
		args = append(args, s.fragment(a, 1, mir.Arg{}), s.uniformWords(b))
	}
	fresh := s.isFalse(scale)
	if !fresh && !bound {
		for i, v := range n.Dst {
			s.demand[v] |= demandLow | demandGeneral
			s.emit(mir.OpMOV, wordOf(acc, i), mir.ValueWords(v, 0, 1))
		}
	}
	if scale.Kind == ir.OperandReg && !fresh && !s.isTrue(scale) {
		args = append(args, s.pred(scale))
	}
	in := s.emit(mir.OpHGMMA, mir.Arg{}, args...)
	in.Acc, in.AccNew = acc, fresh
	if !bound {
		for i, v := range n.Dst {
			s.emit(mir.OpMOV, mir.ValueWords(v, 0, 1), wordOf(acc, i))
		}
	}
	return nil
}

// wgmmaOperands returns the operands of a product but for its accumulators: the registers of A or its
// descriptor, the descriptor of B, and scale-d.
func wgmmaOperands(n *hir.Node) (a []ir.Operand, b, scale ir.Operand) {
	last := len(n.Src) - 1
	na := last - len(n.Dst) - 1
	return n.Src[:na], n.Src[na], n.Src[last]
}

// wordOf is word i of values in order.
func wordOf(vals []mir.Arg, i int) mir.Arg {
	for _, a := range vals {
		if i < int(a.N) {
			return mir.ValueWords(a.Value, a.Word+uint8(i), 1)
		}
		i -= int(a.N)
	}
	return mir.Arg{}
}

// bindGroup binds the accumulators of a product to the words of adjacent values, unless one of them
// is bound or named twice.
func (s *selector) bindGroup(regs []vreg.Value) {
	for i, v := range regs {
		if _, taken := s.sub[v]; taken || s.hir.Values[v].File != vreg.General || slices.Contains(regs[:i], v) {
			return
		}
	}
	for k, a := range s.newGroup(len(regs)) {
		for w := range a.N {
			s.sub[regs[4*k+int(w)]] = subst{v: a.Value, w: w}
		}
	}
}

// newGroup returns new values of that many words in adjacent registers.
func (s *selector) newGroup(words int) (list []mir.Arg) {
	vals := make([]vreg.Value, 0, words/4+1)
	for ; words > 0; words -= vreg.MaxWords {
		w := uint8(min(words, vreg.MaxWords))
		v := s.newValue(w, vreg.General)
		vals, list = append(vals, v), append(list, mir.ValueWords(v, 0, w))
	}
	s.out.Group(vals)
	return list
}

// accumulators returns the words that accumulators are bound to, in order; false: they are not, and
// must be copied to and from those returned.
func (s *selector) accumulators(regs []vreg.Value) (list []mir.Arg, bound bool) {
	for i := 0; i < len(regs); {
		b, ok := s.sub[regs[i]]
		if !ok || b.w != 0 || !s.out.IsGrouped(b.v) {
			return s.newGroup(len(regs)), false
		}
		w := s.hir.Values[b.v].Words
		for k := range w {
			if i == len(regs) || s.sub[regs[i]] != (subst{v: b.v, w: k}) {
				return s.newGroup(len(regs)), false
			}
			i++
		}
		list = append(list, mir.ValueWords(b.v, 0, w))
	}
	return list, true
}

// isTrue and isFalse report whether a predicate is that constant.
func (s *selector) isTrue(o ir.Operand) bool  { v, ok := s.constantPredicate(o); return ok && v }
func (s *selector) isFalse(o ir.Operand) bool { v, ok := s.constantPredicate(o); return ok && !v }

// constantPredicate returns a predicate that is a constant.
func (s *selector) constantPredicate(o ir.Operand) (value, ok bool) {
	switch o.Kind {
	case ir.OperandImm:
		return o.Imm != 0, true
	case ir.OperandReg:
		if d := s.hir.DefOf(vreg.Value(o.Reg)); d != nil && hir.SetsConstant(d) && d.Guard == vreg.None {
			return (d.Src[0].Imm != 0) != o.Not, true
		}
	}
	return false, false
}

// lowerWgmmaGroup lowers fences, commits and waits of products.
func (s *selector) lowerWgmmaGroup(n *hir.Node) error {
	s.emit(map[ir.Op]mir.Op{ir.WgmmaFence: mir.OpWGARRIVE, ir.WgmmaCommit: mir.OpWGCOMMIT, ir.WgmmaWait: mir.OpWGDEPBAR}[n.Op], mir.Arg{})
	return nil
}
