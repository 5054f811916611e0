package assemble

import (
	"slices"

	"github.com/warptune/warptune/simengine/ir"
)

// bindFragments gives the values that products of matrices read and write as one operand
// neighbouring registers, before anything else does: first results and sums, then what one load
// brings for a fragment or two, then the other fragments.
func (s *selector) bindFragments() {
	f := s.f
	products := false
	for _, b := range f.order {
		nodes := f.blocks[b].nodes
		for i := len(nodes) - 1; i >= 0; i-- {
			if n := &f.nodes[nodes[i]]; n.op == ir.Mma {
				products = true
				s.bindSums(nodes, i)
			}
		}
	}
	if !products {
		return
	}
	s.factors = map[value]int32{}
	s.eachProduct(func(n *node) {
		a, b, _ := n.fragments()
		for _, o := range append(slices.Clone(a), b...) {
			if o.Kind == ir.OperandReg {
				s.factors[value(o.Reg)]++
			}
		}
	})
	for _, b := range f.order {
		for _, ni := range f.blocks[b].nodes {
			n := &f.nodes[ni]
			if n.op == ir.Ld && n.vec > 1 && slices.ContainsFunc(n.dst, func(v value) bool { return s.factors[v] > 0 }) {
				s.bindAll(n.dst)
			}
		}
	}
	s.eachProduct(func(n *node) {
		a, b, c := n.fragments()
		for _, x := range [...][]ir.Operand{a, b, c} {
			if vals, ok := registersOf(x); ok {
				s.bindAll(vals)
			}
		}
	})
}

// multiplied says that products alone read a value, and not as what they add to.
func (s *selector) multiplied(v value) bool {
	return s.f.vals[v].defs == 1 && s.factors[v] > 0 && s.factors[v] == s.uses[v]
}

func (s *selector) eachProduct(visit func(*node)) {
	for _, b := range s.f.order {
		for _, ni := range s.f.blocks[b].nodes {
			if n := &s.f.nodes[ni]; n.op == ir.Mma {
				visit(n)
			}
		}
	}
}

// fragments are the operands A, B and C of a product.
func (n *node) fragments() (a, b, c []ir.Operand) {
	na, nb, _ := n.matrix.Registers()
	return n.src[:na], n.src[na : na+nb], n.src[na+nb:]
}

// registersOf is the values that operands name; false if one is a constant.
func registersOf(ops []ir.Operand) ([]value, bool) {
	vals := make([]value, len(ops))
	for i, o := range ops {
		if o.Kind != ir.OperandReg {
			return nil, false
		}
		vals[i] = value(o.Reg)
	}
	return vals, true
}

// bindAll binds values to the words of a new one, if none is bound and all are different.
func (s *selector) bindAll(vals []value) bool {
	f := s.f
	total := uint8(0)
	for i, v := range vals {
		if v < 0 || f.vals[v].file != fileGeneral || slices.Contains(vals[:i], v) {
			return false
		}
		if _, taken := s.sub[v]; taken {
			return false
		}
		total += f.vals[v].words
	}
	if len(vals) < 2 || total > maxWords {
		return false
	}
	g, w := s.newValue(total, fileGeneral), uint8(0)
	for _, v := range vals {
		s.sub[v] = subst{v: g, w: w}
		w += f.vals[v].words
	}
	return true
}

// bindSums binds the results of node i of a block, and what it adds them to, to the same
// registers, where that is computed in the block for it alone and the registers are free.
func (s *selector) bindSums(nodes []int32, i int) {
	f := s.f
	n := &f.nodes[nodes[i]]
	s.bindAll(n.dst)
	_, _, ops := n.fragments()
	c, ok := registersOf(ops)
	if !ok || slices.Equal(c, n.dst) {
		return
	}
	for k, v := range c {
		d, bound := s.sub[n.dst[k]]
		_, taken := s.sub[v]
		if !bound || taken || s.uses[v] != 1 || f.vals[v].defs != 1 || f.vals[v].words != f.vals[n.dst[k]].words || !s.free(nodes, i, v, d) {
			return
		}
	}
	for k, v := range c {
		s.sub[v] = s.sub[n.dst[k]]
	}
}

// free says that value v, which node i of a block reads, is written before it in the block, and
// that from there on nothing before node i reads or writes what else is bound to the same word.
func (s *selector) free(nodes []int32, i int, v value, word subst) bool {
	f := s.f
	for j := i - 1; j >= 0; j-- {
		n := &f.nodes[nodes[j]]
		if slices.Contains(n.dst, v) {
			return n.guard == noValue
		}
		for _, d := range n.dst {
			if d >= 0 && s.sub[d] == word {
				return false
			}
		}
		for k := range n.src {
			if o := &n.src[k]; o.Kind == ir.OperandReg {
				if b, bound := s.sub[value(o.Reg)]; bound && b == word {
					return false
				}
			}
		}
	}
	return false
}

// bound is the registers of operands that are bound to neighbouring words, at a multiple of
// their number.
func (s *selector) bound(ops []ir.Operand, per uint8) (arg, bool) {
	var first subst
	for i, o := range ops {
		if o.Kind != ir.OperandReg || s.f.vals[o.Reg].words != per {
			return arg{}, false
		}
		b, ok := s.sub[value(o.Reg)]
		if i == 0 {
			first = b
		}
		if !ok || b.v != first.v || b.w != first.w+uint8(i)*per {
			return arg{}, false
		}
	}
	n := per * uint8(len(ops))
	return valueArg(first.v, first.w, n), len(ops) > 0 && first.w%n == 0
}

// wantAll marks operands as read from general registers.
func (s *selector) wantAll(ops []ir.Operand) {
	for _, o := range ops {
		s.want[o.Reg] |= wantLo | wantGPR
		if s.f.vals[o.Reg].words == 2 {
			s.want[o.Reg] |= wantHi
		}
	}
}
