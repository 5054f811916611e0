package isel

import (
	"slices"

	"github.com/warptune/warptune/simengine/assemble/hir"
	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/assemble/vreg"
	"github.com/warptune/warptune/simengine/ir"
)

// bindFragments gives the values that products of matrices read and write as one operand
// neighbouring registers, before anything else does: first results and sums, then what one load
// brings for a fragment or two, then the other fragments.
func (s *selector) bindFragments() {
	f := s.hir
	products := false
	for _, b := range f.Order {
		nodes := f.Blocks[b].Nodes
		for i := len(nodes) - 1; i >= 0; i-- {
			if n := &f.Nodes[nodes[i]]; n.Op == ir.Mma {
				products = true
				s.bindAccumulators(nodes, i)
			}
		}
	}
	if !products {
		return
	}
	s.mmaInputs = map[vreg.Value]int32{}
	s.eachMMA(func(n *hir.Node) {
		a, b, _ := fragments(n)
		for _, o := range append(slices.Clone(a), b...) {
			if o.Kind == ir.OperandReg {
				s.mmaInputs[vreg.Value(o.Reg)]++
			}
		}
	})
	for _, b := range f.Order {
		for _, ni := range f.Blocks[b].Nodes {
			n := &f.Nodes[ni]
			if n.Op == ir.Ld && n.Vec > 1 && slices.ContainsFunc(n.Dst, func(v vreg.Value) bool { return s.mmaInputs[v] > 0 }) {
				s.bindAll(n.Dst)
			}
		}
	}
	s.eachMMA(func(n *hir.Node) {
		a, b, c := fragments(n)
		for _, x := range [...][]ir.Operand{a, b, c} {
			if vals, ok := registersOf(x); ok {
				s.bindAll(vals)
			}
		}
	})
}

// onlyMMAInput says that products alone read a value, and not as what they add to.
func (s *selector) onlyMMAInput(v vreg.Value) bool {
	return s.hir.Values[v].Defs == 1 && s.mmaInputs[v] > 0 && s.mmaInputs[v] == s.uses[v]
}

func (s *selector) eachMMA(visit func(*hir.Node)) {
	for _, b := range s.hir.Order {
		for _, ni := range s.hir.Blocks[b].Nodes {
			if n := &s.hir.Nodes[ni]; n.Op == ir.Mma {
				visit(n)
			}
		}
	}
}

// fragments are the operands A, B and C of a product.
func fragments(n *hir.Node) (a, b, c []ir.Operand) {
	na, nb, _ := n.Matrix.Registers()
	return n.Src[:na], n.Src[na : na+nb], n.Src[na+nb:]
}

// registersOf is the values that operands name; false if one is a constant.
func registersOf(ops []ir.Operand) ([]vreg.Value, bool) {
	vals := make([]vreg.Value, len(ops))
	for i, o := range ops {
		if o.Kind != ir.OperandReg {
			return nil, false
		}
		vals[i] = vreg.Value(o.Reg)
	}
	return vals, true
}

// bindAll binds values to the words of a new one, if none is bound and all are different.
func (s *selector) bindAll(vals []vreg.Value) bool {
	f := s.hir
	total := uint8(0)
	for i, v := range vals {
		if v < 0 || f.Values[v].File != vreg.General || slices.Contains(vals[:i], v) {
			return false
		}
		if _, taken := s.sub[v]; taken {
			return false
		}
		total += f.Values[v].Words
	}
	if len(vals) < 2 || total > vreg.MaxWords {
		return false
	}
	g, w := s.newValue(total, vreg.General), uint8(0)
	for _, v := range vals {
		s.sub[v] = subst{v: g, w: w}
		w += f.Values[v].Words
	}
	return true
}

// bindAccumulators binds the results of node i of a block, and what it adds them to, to the same
// registers, where that is computed in the block for it alone and the registers are free.
func (s *selector) bindAccumulators(nodes []int32, i int) {
	f := s.hir
	n := &f.Nodes[nodes[i]]
	s.bindAll(n.Dst)
	_, _, ops := fragments(n)
	c, ok := registersOf(ops)
	if !ok || slices.Equal(c, n.Dst) {
		return
	}
	for k, v := range c {
		d, bound := s.sub[n.Dst[k]]
		_, taken := s.sub[v]
		if !bound || taken || s.uses[v] != 1 || f.Values[v].Defs != 1 || f.Values[v].Words != f.Values[n.Dst[k]].Words || !s.freeBefore(nodes, i, v, d) {
			return
		}
	}
	for k, v := range c {
		s.sub[v] = s.sub[n.Dst[k]]
	}
}

// freeBefore says that value v, which node i of a block reads, is written before it in the block, and
// that from there on nothing before node i reads or writes what else is bound to the same word.
func (s *selector) freeBefore(nodes []int32, i int, v vreg.Value, word subst) bool {
	f := s.hir
	for j := i - 1; j >= 0; j-- {
		n := &f.Nodes[nodes[j]]
		if slices.Contains(n.Dst, v) {
			return n.Guard == vreg.None
		}
		for _, d := range n.Dst {
			if d >= 0 && s.sub[d] == word {
				return false
			}
		}
		for k := range n.Src {
			if o := &n.Src[k]; o.Kind == ir.OperandReg {
				if b, bound := s.sub[vreg.Value(o.Reg)]; bound && b == word {
					return false
				}
			}
		}
	}
	return false
}

// bound is the registers of operands that are bound to neighbouring words, at a multiple of
// their number.
func (s *selector) bound(ops []ir.Operand, per uint8) (mir.Arg, bool) {
	var first subst
	for i, o := range ops {
		if o.Kind != ir.OperandReg || s.hir.Values[o.Reg].Words != per {
			return mir.Arg{}, false
		}
		b, ok := s.sub[vreg.Value(o.Reg)]
		if i == 0 {
			first = b
		}
		if !ok || b.v != first.v || b.w != first.w+uint8(i)*per {
			return mir.Arg{}, false
		}
	}
	n := per * uint8(len(ops))
	return mir.ValueWords(first.v, first.w, n), len(ops) > 0 && first.w%n == 0
}

// demandAll marks operands as read from general registers.
func (s *selector) demandAll(ops []ir.Operand) {
	for _, o := range ops {
		s.demand[o.Reg] |= demandLow | demandGeneral
		if s.hir.Values[o.Reg].Words == 2 {
			s.demand[o.Reg] |= demandHigh
		}
	}
}
