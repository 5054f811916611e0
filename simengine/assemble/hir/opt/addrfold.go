package opt

import (
	"cmp"
	"maps"
	"slices"

	"github.com/warptune/warptune/simengine/assemble/hir"
	"github.com/warptune/warptune/simengine/assemble/rules"
	"github.com/warptune/warptune/simengine/assemble/vreg"
	"github.com/warptune/warptune/simengine/ir"
)

// Constant offsets of addresses in shared memory.
//
// The address of an access is taken apart into a linear form: the sum of registers and variables
// times constants, plus a constant. Accesses whose forms differ in the constant only use the first
// one's address and an offset. Compilers do this for memory that they know; here it is done for
// addresses that a kernel computes by itself, whatever additions, shifts and multiplications the
// constants are in.
//
// Evidence, ptxas corpus (13.0, sm_90). Kernels: flash_mma, where all 32 loads of a tile, 73 bytes
// apart, use one register.

// FoldAddresses rewrites accesses to shared memory to use an earlier address and an offset.
func FoldAddresses(f *hir.Func) error {
	if !f.Target.Uses(rules.AddressOffsets) {
		return nil
	}
	if f.Target.Specific {
		foldConstants(f)
		foldVariables(f)
	}
	o := addrFold{f: f, of: map[vreg.Value]*linear{}}
	for _, b := range f.Order {
		for _, ni := range f.Blocks[b].Nodes {
			if n := &f.Nodes[ni]; accessesShared(n) {
				o.share(b, n)
			}
		}
	}
	return nil
}

// accessesShared reports whether a node accesses shared memory at the address that is its first source.
func accessesShared(n *hir.Node) bool {
	if n.Space != ir.Shared || len(n.Src) == 0 {
		return false
	}
	switch n.Op {
	case ir.Ld, ir.St, ir.Atom, ir.Red, ir.CpAsync:
		return true
	}
	return false
}

// foldConstants rewrites accesses to shared memory at the sum of a value and a constant, if only accesses
// read the sum.
func foldConstants(f *hir.Func) {
	uses := f.CountUses()
	eachAddress(f, func(a *ir.Operand) { uses[a.Reg]-- })
	eachAddress(f, func(a *ir.Operand) {
		d := f.DefOf(vreg.Value(a.Reg))
		if uses[a.Reg] != 0 || d == nil {
			return
		}
		if x, c, is := sumWithConstant(f, d); is && f.Values[x].Defs == 1 {
			a.Reg, a.Imm = ir.Reg(x), a.Imm+uint64(c)
		}
	})
}

// eachAddress calls do for the address of every access to shared memory that is in a register.
func eachAddress(f *hir.Func, do func(a *ir.Operand)) {
	for _, b := range f.Order {
		for _, ni := range f.Blocks[b].Nodes {
			if n := &f.Nodes[ni]; accessesShared(n) && n.Src[0].Kind == ir.OperandAddr && n.Src[0].Reg != ir.NoReg {
				do(&n.Src[0])
			}
		}
	}
}

// sumWithConstant returns the terms of what node n computes if that is the sum of a word and a constant,
// and nothing else writes its result.
func sumWithConstant(f *hir.Func, n *hir.Node) (x vreg.Value, c int64, is bool) {
	if n.Op != ir.Add || n.Guard != vreg.None || n.Mod != 0 || len(n.Dst) != 1 || hir.Bits(n.Type) != 32 || !hir.IsInt(n.Type) {
		return x, c, false
	}
	a, b := &n.Src[0], &n.Src[1]
	if a.Kind != ir.OperandReg || b.Kind != ir.OperandImm || f.Values[a.Reg].Words != 1 || f.Values[n.Dst[0]].Defs != 1 {
		return x, c, false
	}
	return vreg.Value(a.Reg), int64(int32(b.Imm)), true
}

// foldVariables rewrites accesses to shared memory at the sum of a variable and a constant to use the
// variable and an offset, where the variable is not written in between.
//
// Evidence, ptxas corpus (shared launches of bulk_stream, sm_90a): the three accesses that an unrolled
// loop makes at constant distances of its running address use one register, and their loads come first.
func foldVariables(f *hir.Func) {
	sums := map[vreg.Value]variableSum{}
	for _, b := range f.Order {
		clear(sums)
		for _, ni := range f.Blocks[b].Nodes {
			n := &f.Nodes[ni]
			if accessesShared(n) {
				a := &n.Src[0]
				if x, found := sums[vreg.Value(a.Reg)]; found && a.Kind == ir.OperandAddr && a.Var < 0 {
					a.Reg, a.Imm = ir.Reg(x.variable), a.Imm+uint64(x.add)
				}
			}
			for _, d := range n.Dst {
				maps.DeleteFunc(sums, func(_ vreg.Value, x variableSum) bool { return x.variable == d })
			}
			if x, c, is := sumWithConstant(f, n); is && f.Values[x].Defs > 1 {
				sums[n.Dst[0]] = variableSum{x, c}
			}
		}
	}
}

// variableSum is the sum of a variable and a constant.
type variableSum struct {
	variable vreg.Value
	add      int64
}

// addrFold is the addresses met so far.
type addrFold struct {
	f     *hir.Func
	of    map[vreg.Value]*linear
	bases []base
}

// base is an address that later accesses may use.
type base struct {
	v  vreg.Value
	at *linear
}

// linear is a linear form modulo 2^32.
type linear struct {
	terms []term // sorted by leaf
	add   uint32
}

// term is a leaf times a constant.
type term struct {
	leaf  int64 // a value; for the address of variable n, -1-n
	times uint32
}

// Limits of what is taken apart: terms of a form, and definitions looked back.
const (
	maxTerms = 8
	maxSteps = 16
)

// share rewrites the address of access n in block b, or records it.
func (o *addrFold) share(b int, n *hir.Node) {
	a := &n.Src[0]
	if a.Kind != ir.OperandAddr || a.Reg == ir.NoReg || a.Var >= 0 || o.f.Values[a.Reg].Words != 1 {
		return
	}
	v := vreg.Value(a.Reg)
	d := o.f.DefOf(v)
	if d == nil || d.Guard != vreg.None {
		return
	}
	at := o.linear(v, maxSteps)
	for _, x := range o.bases {
		if x.v == v {
			return
		}
		if from := o.f.DefOf(x.v); slices.Equal(x.at.terms, at.terms) && o.f.Dominates(o.f.Carrier(from), b) {
			// Modulo 2^32, as addresses are; offsets are small and of either sign.
			a.Reg, a.Imm = ir.Reg(x.v), a.Imm+uint64(int64(int32(at.add-x.at.add)))
			return
		}
	}
	o.bases = append(o.bases, base{v, at})
}

// linear returns the linear form of v.
func (o *addrFold) linear(v vreg.Value, steps int) *linear {
	if l := o.of[v]; l != nil {
		return l
	}
	l := o.decompose(v, steps)
	if l == nil || len(l.terms) > maxTerms {
		l = &linear{terms: []term{{int64(v), 1}}}
	}
	o.of[v] = l
	return l
}

// decompose returns the linear form that the definition of v computes, nil where it computes
// something else.
func (o *addrFold) decompose(v vreg.Value, steps int) *linear {
	d := o.f.DefOf(v)
	if d == nil || steps == 0 || d.Guard != vreg.None || len(d.Dst) != 1 || hir.Bits(d.Type) != 32 || !hir.IsInt(d.Type) || d.Mod&^ir.ModLo != 0 || o.f.Values[v].Words != 1 {
		return nil
	}
	src := make([]*linear, len(d.Src))
	for i := range d.Src {
		if src[i] = o.operand(&d.Src[i], steps-1); src[i] == nil {
			return nil
		}
	}
	switch {
	case d.Op == ir.Mov && len(src) == 1:
		return src[0]
	case d.Op == ir.Add:
		return src[0].plus(src[1], 1)
	case d.Op == ir.Sub:
		return src[0].plus(src[1], ^uint32(0))
	case d.Op == ir.Shl && len(src[1].terms) == 0 && src[1].add < 32:
		return (&linear{}).plus(src[0], 1<<src[1].add)
	case d.Op == ir.Mul, d.Op == ir.Mad:
		product := src[0].product(src[1])
		if product == nil || d.Op == ir.Mul {
			return product
		}
		return product.plus(src[2], 1)
	}
	return nil
}

// operand returns the linear form of an operand, nil where it is not of 32 bits or may change.
func (o *addrFold) operand(x *ir.Operand, steps int) *linear {
	switch x.Kind {
	case ir.OperandImm:
		return &linear{add: uint32(x.Imm)}
	case ir.OperandVar:
		return &linear{terms: []term{{-1 - int64(x.Var), 1}}, add: uint32(x.Imm)}
	case ir.OperandReg:
		if o.f.Values[x.Reg].Defs == 1 && o.f.Values[x.Reg].Words == 1 && !x.Not {
			return o.linear(vreg.Value(x.Reg), steps)
		}
	}
	return nil
}

// product returns l times m where one of them is a constant, else nil.
func (l *linear) product(m *linear) *linear {
	switch {
	case len(m.terms) == 0:
		return (&linear{}).plus(l, m.add)
	case len(l.terms) == 0:
		return (&linear{}).plus(m, l.add)
	}
	return nil
}

// plus returns l plus times times m.
func (l *linear) plus(m *linear, times uint32) *linear {
	sum := &linear{terms: slices.Clone(l.terms), add: l.add + times*m.add}
	for _, t := range m.terms {
		t.times *= times
		i, found := slices.BinarySearchFunc(sum.terms, t, func(a, b term) int { return cmp.Compare(a.leaf, b.leaf) })
		if found {
			sum.terms[i].times += t.times
		} else {
			sum.terms = slices.Insert(sum.terms, i, t)
		}
	}
	sum.terms = slices.DeleteFunc(sum.terms, func(t term) bool { return t.times == 0 })
	return sum
}
