package isel

import (
	"slices"

	"github.com/warptune/warptune/simengine/assemble/hir"
	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/assemble/vreg"
	"github.com/warptune/warptune/simengine/ir"
)

// MMA instructions and the registers of their fragments.
//
// The elements of a fragment must lie in adjacent registers, aligned to their number. The values of
// a fragment are bound to the words of one wide value before anything is lowered, in order of
// importance: results with accumulators, vector loads, other fragments. What cannot be bound is
// copied.

// lowerMma lowers mma to HMMA, IMMA or DMMA: one, or several where the tensor cores of a generation
// take fewer rows or less depth at a time.
func (s *selector) lowerMma(n *hir.Node) error {
	step, err := s.hir.Target.MMAShape(n.Matrix)
	if err != nil {
		return err
	}
	op, per := mmaOp(&step), uint8(1)
	if op == mir.OpDMMA {
		per = 2
	}
	d, copied := s.mmaResults(n, per)
	_, _, sum := fragments(n)
	fa, fb, _ := fragments(n)
	c := s.fragment(sum, per, d)
	a, b := s.fragment(fa, per, mir.Arg{}), s.fragment(fb, per, mir.Arg{})
	rows, deep := n.Matrix.M/step.M, n.Matrix.K/step.K
	for k := range deep {
		for r := range rows {
			// The registers of A are ordered by rows within a step of K, those of C and D by rows.
			at := share(a, rows*deep, k*rows+r)
			to, from := share(d, rows, r), share(c, rows, r)
			if k > 0 {
				from = to
			}
			s.emit(op, to, at, share(b, deep, k), from)
		}
	}
	if copied {
		s.unpackVector(n.Dst, d)
	}
	return nil
}

// mmaOp is the operation for a shape.
func mmaOp(m *ir.Matrix) mir.Op {
	a, _, _ := m.Registers()
	short := a < 4
	switch {
	case m.A == ir.F64:
		return mir.OpDMMA
	case m.D == ir.S32 && short:
		return mir.OpIMMASHORT
	case m.D == ir.S32:
		return mir.OpIMMA
	case m.D == ir.F16 && short:
		return mir.OpHMMASHORT
	case m.D == ir.F16:
		return mir.OpHMMA
	case short:
		return mir.OpHMMASINGLESHORT
	}
	return mir.OpHMMASINGLE
}

// share is part i of an operand divided into of equal parts.
func share(a mir.Arg, of, i int) mir.Arg {
	if a.Kind != mir.ArgValue {
		return a
	}
	a.N /= uint8(of)
	a.Word += uint8(i) * a.N
	return a
}

// mmaResults returns where the results go, and reports whether they must be copied from there. per
// is the words of an element.
func (s *selector) mmaResults(n *hir.Node, per uint8) (mir.Arg, bool) {
	ops := make([]ir.Operand, len(n.Dst))
	for i, d := range n.Dst {
		if d < 0 {
			return s.temp(per * uint8(len(n.Dst))), true
		}
		ops[i] = ir.Operand{Kind: ir.OperandReg, Reg: ir.Reg(d), Var: -1, Param: -1}
	}
	if at, ok := s.boundSpan(ops, per); ok {
		return at, false
	}
	return s.temp(per * uint8(len(n.Dst))), true
}

// fragment returns the registers of a fragment. Elements that are not in adjacent registers are
// copied, to at if that is not empty: accumulators go where the results will be.
func (s *selector) fragment(ops []ir.Operand, per uint8, at mir.Arg) mir.Arg {
	zero := true
	for _, o := range ops {
		zero = zero && s.isZero(o)
	}
	if zero {
		return mir.Arg{Kind: mir.ArgZero}
	}
	if len(ops) == 1 && per == 1 {
		return s.gprWord(ops[0], 0)
	}
	if len(ops) == 1 {
		return s.pair(ops[0])
	}
	if a, ok := s.boundSpan(ops, per); ok {
		s.demandAll(ops)
		return a
	}
	if at.Kind != mir.ArgValue {
		at = s.temp(per * uint8(len(ops)))
	}
	for i, o := range ops {
		for w := range per {
			s.emit(mir.OpMOV, mir.ValueWords(at.Value, at.Word+uint8(i)*per+w, 1), s.flexible(o, w))
		}
	}
	return at
}

// isZero reports whether an operand is the constant zero.
func (s *selector) isZero(o ir.Operand) bool {
	if o.Kind == ir.OperandReg {
		d := s.hir.DefOf(vreg.Value(o.Reg))
		return d != nil && hir.SetsConstant(d) && d.Guard == vreg.None && d.Src[0].Imm == 0
	}
	return o.Kind == ir.OperandImm && o.Imm == 0
}

// bindFragments binds the values of fragments to adjacent registers.
func (s *selector) bindFragments() {
	f := s.hir
	products := false
	for _, b := range f.Order {
		nodes := f.Blocks[b].Nodes
		for i := len(nodes) - 1; i >= 0; i-- {
			switch n := &f.Nodes[nodes[i]]; n.Op {
			case ir.Mma:
				products = true
				s.bindAccumulators(nodes, i)
			case ir.Wgmma:
				products = true
				s.bindGroup(n.Dst)
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

// onlyMMAInput reports whether all reads of v are as operand A or B of an MMA.
func (s *selector) onlyMMAInput(v vreg.Value) bool {
	return s.hir.Values[v].Defs == 1 && s.mmaInputs[v] > 0 && s.mmaInputs[v] == s.uses[v]
}

// eachMMA calls visit for every MMA.
func (s *selector) eachMMA(visit func(*hir.Node)) {
	for _, b := range s.hir.Order {
		for _, ni := range s.hir.Blocks[b].Nodes {
			if n := &s.hir.Nodes[ni]; n.Op == ir.Mma || n.Op == ir.Wgmma {
				visit(n)
			}
		}
	}
}

// fragments returns the operands A, B and C of an MMA that are fragments in registers; of a
// warpgroup's product A, where it is.
func fragments(n *hir.Node) (a, b, c []ir.Operand) {
	if n.Op == ir.Wgmma {
		if a, _, _ = wgmmaOperands(n); n.Matrix.FromShared {
			a = nil
		}
		return a, nil, nil
	}
	na, nb, _ := n.Matrix.Registers()
	return n.Src[:na], n.Src[na : na+nb], n.Src[na+nb:]
}

// registersOf returns the values that operands name; false if one is a constant.
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

// bindAll binds values to the words of a new one, and reports whether it could: none is bound and
// all are different.
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

// bindAccumulators binds the results of node i and its accumulators to the same registers, if the
// accumulators are computed in the block, for it alone, and the registers are free until then.
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

// freeBefore reports whether value v, which node i reads, is written before it in the block, and
// nothing between reads or writes another value that is bound to word.
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

// boundSpan returns the registers of operands that are bound to adjacent words, and reports whether
// they are, at a multiple of their number.
func (s *selector) boundSpan(ops []ir.Operand, per uint8) (mir.Arg, bool) {
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
