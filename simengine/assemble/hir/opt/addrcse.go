package opt

import (
	"slices"

	"github.com/warptune/warptune/simengine/assemble/hir"
	"github.com/warptune/warptune/simengine/assemble/vreg"
	"github.com/warptune/warptune/simengine/ir"
)

// ShareAddresses has sums of 64 bits that differ by a constant from one before them in their
// block begin with that one. Unrolled loops make many: of a base and an index that each
// copy moves on. Where they are addresses the constant goes into the instruction, and they
// cost nothing: so it is in ptxas 13.0's code for sm_90 (of layernorm's 16 stores an
// iteration, deploy/calibrate/validation/fifth, 15 have the first one's address).
func ShareAddresses(f *hir.Func) error {
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
	known []addrSum // of two registers
	moved []addrSum // of one, which changes elsewhere
}

// addrSum is a 64-bit sum of one or two registers (a up to b) and a constant, and the
// register that holds it.
type addrSum struct {
	a, b  ir.Reg
	add   uint64
	value ir.Reg
}

// visit shares a node's sum, and takes note of it and of what the node changes.
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

// of returns the sum that a node computes, if its result never changes.
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
			r, add := t.apart(o.Reg)
			s.a, s.b = r, s.a
			s.add += add
		}
	}
	if s.b != ir.NoReg && s.a > s.b {
		s.a, s.b = s.b, s.a
	}
	return s, s.a != ir.NoReg && s.a != ir.Reg(n.Dst[0])
}

// apart returns the register that one is a sum of, and the constant: itself and zero
// where it is something else.
func (t *addrCSE) apart(r ir.Reg) (ir.Reg, uint64) {
	for i := range t.moved {
		if m := &t.moved[i]; m.value == r {
			return m.a, m.add
		}
	}
	return r, 0
}

// share has a node begin with a sum that is known, and says whether there is one that
// an instruction's offset reaches from.
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

// forget leaves out what begins with a register that changes.
func (t *addrCSE) forget(r ir.Reg) {
	begins := func(s addrSum) bool { return s.a == r || s.b == r }
	t.known, t.moved = slices.DeleteFunc(t.known, begins), slices.DeleteFunc(t.moved, begins)
}
