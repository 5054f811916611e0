package opt

import (
	"cmp"
	"slices"

	"github.com/warptune/warptune/simengine/assemble/hir"
	"github.com/warptune/warptune/simengine/assemble/vreg"
	"github.com/warptune/warptune/simengine/ir"
)

// FoldAddresses has accesses to shared memory whose addresses differ by a constant take the
// address of the first of them, with what they differ by as the instruction's own offset,
// wherever sums, shifts and products put that constant: so it is in ptxas 13.0's code for sm_90 of
// addresses that a kernel works out by itself (all 32 loads of a tile of keys, 73 apart, in flash_mma, deploy/calibrate/validation/tenth,
// have one register). Compilers do so only where they know that it is memory.
func FoldAddresses(f *hir.Func) error {
	o := addrFold{f: f, of: map[vreg.Value]*linear{}}
	for _, b := range f.Order {
		for _, ni := range f.Blocks[b].Nodes {
			n := &f.Nodes[ni]
			if n.Space != ir.Shared || len(n.Src) == 0 {
				continue
			}
			switch n.Op {
			case ir.Ld, ir.St, ir.Atom, ir.Red, ir.CpAsync:
				o.share(b, n)
			}
		}
	}
	return nil
}

// addrFold is the addresses met so far.
type addrFold struct {
	f     *hir.Func
	of    map[vreg.Value]*linear
	bases []base
}

// base is an address that others may begin with.
type base struct {
	v  vreg.Value
	at *linear
}

// linear is a sum of multiples of registers and addresses of variables, and a constant; all of
// 32 bits.
type linear struct {
	terms []term // in order of what they are of
	add   uint32
}

// term is a multiple of what cannot be taken apart.
type term struct {
	leaf  int64 // a value; of a variable's address minus one less its number
	times uint32
}

// maxTerms and maxSteps bound the sums that are taken apart.
const (
	maxTerms = 8
	maxSteps = 16
)

// share rewrites the address of an access, or takes note of it.
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

// linear takes a value apart.
func (o *addrFold) linear(v vreg.Value, steps int) *linear {
	if l := o.of[v]; l != nil {
		return l
	}
	l := o.apart(v, steps)
	if l == nil || len(l.terms) > maxTerms {
		l = &linear{terms: []term{{int64(v), 1}}}
	}
	o.of[v] = l
	return l
}

// apart is the sum that a value is, nil if it is something else.
func (o *addrFold) apart(v vreg.Value, steps int) *linear {
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

// operand is an operand as a sum, nil if it is none of 32 bits that never changes.
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

// product is the product of two sums of which one is a constant, else nil.
func (l *linear) product(m *linear) *linear {
	switch {
	case len(m.terms) == 0:
		return (&linear{}).plus(l, m.add)
	case len(l.terms) == 0:
		return (&linear{}).plus(m, l.add)
	}
	return nil
}

// plus is a sum and a multiple of another.
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
