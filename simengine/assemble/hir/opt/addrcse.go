package opt

import (
	"slices"

	"github.com/warptune/warptune/simengine/assemble/hir"
	"github.com/warptune/warptune/simengine/assemble/rules"
	"github.com/warptune/warptune/simengine/assemble/vreg"
	"github.com/warptune/warptune/simengine/ir"
)

// Common subexpressions of 64-bit addresses.
//
// In an unrolled loop each copy adds a base, an index and a constant of its own, in any order of
// additions. The first such address of a block is computed; the others become that one plus a
// constant, which the access takes as its offset:
//
//	a = p + i           a = p + i
//	j = i + 16          (unused)
//	b = p + j           b = a + 16     ld [b] becomes ld [a+16]
//
// Evidence, ptxas corpus (13.0, sm_90). Kernels: layernorm, where 15 of 16 stores a turn use the
// first one's address.

// ShareAddresses rewrites 64-bit additions that differ by a constant from an earlier one of their
// block.
func ShareAddresses(f *hir.Func) error {
	if !f.Target.Uses(rules.AddressCSE) {
		return nil
	}
	t := addrCSE{f: f}
	for _, b := range f.Order {
		t.known, t.moved = t.known[:0], t.moved[:0]
		for _, ni := range f.Blocks[b].Nodes {
			t.visit(&f.Nodes[ni])
		}
	}
	return nil
}

// addrCSE is what is known at a place in a block.
type addrCSE struct {
	f     *hir.Func
	known []addrSum // additions of two registers
	moved []addrSum // additions of one register and a constant
}

// addrSum is the addition a + b + add in a register, a not more than b; b is NoReg where there is
// only one.
type addrSum struct {
	a, b  ir.Reg
	add   uint64
	value ir.Reg
}

// visit rewrites a node, or records its addition, and drops what it overwrites.
func (t *addrCSE) visit(n *hir.Node) {
	s, ok := t.of(n)
	for _, d := range n.Dst {
		t.forget(ir.Reg(d))
	}
	switch {
	case !ok:
	case s.b == ir.NoReg:
		t.moved = append(t.moved, s)
	case !t.share(n, &s):
		t.known = append(t.known, s)
	}
}

// of returns the addition that a node computes, if its result has no other definition.
func (t *addrCSE) of(n *hir.Node) (s addrSum, ok bool) {
	if n.Op != ir.Add || hir.Words(n.Type) != 2 || n.Type == ir.F64 || n.Guard != vreg.None || n.Mod != 0 || t.f.Values[n.Dst[0]].Defs != 1 {
		return s, false
	}
	s = addrSum{a: ir.NoReg, b: ir.NoReg, value: ir.Reg(n.Dst[0])}
	for i := range n.Src {
		t.f.Resolve(n, &n.Src[i])
		switch o := n.Src[i]; {
		case o.Kind == ir.OperandImm:
			s.add += o.Imm
		case o.Kind != ir.OperandReg:
			return s, false
		default:
			r, add := t.decompose(o.Reg)
			s.a, s.b = r, s.a
			s.add += add
		}
	}
	if s.b != ir.NoReg && s.a > s.b {
		s.a, s.b = s.b, s.a
	}
	return s, s.a != ir.NoReg && s.a != ir.Reg(n.Dst[0])
}

// decompose returns register r as another register and a constant, itself and zero where it is
// neither.
func (t *addrCSE) decompose(r ir.Reg) (ir.Reg, uint64) {
	for i := range t.moved {
		if m := &t.moved[i]; m.value == r {
			return m.a, m.add
		}
	}
	return r, 0
}

// share rewrites node n to begin with a known addition, and reports whether there is one within an
// instruction's offset, 32 bits signed.
func (t *addrCSE) share(n *hir.Node, s *addrSum) bool {
	i := slices.IndexFunc(t.known, func(k addrSum) bool {
		by := int64(s.add - k.add)
		return k.a == s.a && k.b == s.b && by == int64(int32(by))
	})
	if i < 0 {
		return false
	}
	k := &t.known[i]
	n.Src[0] = ir.Operand{Kind: ir.OperandReg, Reg: k.value, Var: -1, Param: -1}
	n.Src[1] = ir.Operand{Kind: ir.OperandImm, Reg: ir.NoReg, Imm: s.add - k.add, Var: -1, Param: -1}
	return true
}

// forget drops additions of register r, which changes.
func (t *addrCSE) forget(r ir.Reg) {
	begins := func(s addrSum) bool { return s.a == r || s.b == r }
	t.known, t.moved = slices.DeleteFunc(t.known, begins), slices.DeleteFunc(t.moved, begins)
}
