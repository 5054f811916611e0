package assemble

import (
	"slices"

	"github.com/warptune/warptune/simengine/ir"
)

// rematLimit is the largest number of PTX instructions whose result is
// computed again where it is used rather than kept in a register. The real
// assembler was seen to repeat tile coordinates computed from %tid in sgemm's
// main loop; seven covers those chains, but it repeats fewer of them.
const rematLimit = 7

// rematerialise computes cheap values again in the blocks that use them, so
// that no register holds them in between. It runs only when the registers the
// kernel needs would otherwise cost occupancy or exceed the cap.
func (f *hfn) rematerialise(reduce int) error {
	if reduce == 0 {
		return nil
	}
	inner := f.innermostLoops()
	for _, b := range f.order {
		if inner[b] {
			continue
		}
		r := rematerialiser{f: f, b: b, reduce: reduce, copies: map[value]value{}}
		hb := &f.blocks[b]
		var out []int32
		for _, ni := range hb.nodes {
			r.pre = r.pre[:0]
			for i := range f.nodes[ni].src {
				o := &f.nodes[ni].src[i]
				if (o.Kind == ir.OperandReg || o.Kind == ir.OperandAddr) && o.Reg != ir.NoReg && r.candidate(value(o.Reg)) {
					v := r.clone(value(o.Reg), &f.nodes[ni])
					f.nodes[ni].src = slices.Clone(f.nodes[ni].src) // shared with other variants
					f.nodes[ni].src[i].Reg = ir.Reg(v)
				}
			}
			out = append(out, r.pre...)
			out = append(out, ni)
		}
		hb.nodes = out
	}
	f.countDefs()
	return nil
}

// rematerialiser clones computations into one block.
type rematerialiser struct {
	f      *hfn
	b      int
	reduce int // instructions to repeat at most
	copies map[value]value
	pre    []int32
}

// candidate says whether v comes from another block and is cheap to repeat
// from special registers, parameters and constants.
func (r *rematerialiser) candidate(v value) bool {
	d := r.f.defOf(v)
	if d == nil || r.f.carrier(d) == r.b || isParam(d) || r.keeps(d) {
		return false
	}
	return r.cost(v, 0) <= r.reduce
}

// cost is the number of instructions to repeat for v, large when it cannot be.
func (r *rematerialiser) cost(v value, depth int) int {
	const never = 1 << 20
	d := r.f.defOf(v)
	if d == nil || depth > rematLimit || d.guard != noValue || len(d.dst) != 1 || d.hasEffect() || r.f.vals[v].file != fileGeneral {
		return never
	}
	if isParam(d) || d.op == ir.Mov && len(d.src) == 1 && d.src[0].Kind == ir.OperandSpecial {
		if d.op == ir.Mov && volatileSpecial(d.src[0].Special) {
			return never
		}
		return 0
	}
	switch d.op {
	case ir.Ld, ir.Ldu, ir.Movmatrix, ir.Div, ir.Rem, ir.Rcp, ir.Sqrt, ir.Rsqrt, ir.Sin, ir.Cos, ir.Lg2, ir.Ex2, ir.Tanh:
		return never
	}
	c := 1
	if r.f.vals[v].uniform || d.op == ir.Cvt {
		c = 0
	}
	for i := range d.src {
		switch o := &d.src[i]; o.Kind {
		case ir.OperandReg:
			c += r.cost(value(o.Reg), depth+1)
		case ir.OperandVar:
			c++
		}
		if c >= never {
			return never
		}
	}
	return c
}

// keeps says whether a special register's value stays in a register: reading it
// again takes long, and is done only where all that can be repeated is.
func (r *rematerialiser) keeps(d *node) bool {
	return r.reduce < rematLimit && d.op == ir.Mov && len(d.src) == 1 && d.src[0].Kind == ir.OperandSpecial
}

// clone repeats the computation of v in the block and returns the new value.
func (r *rematerialiser) clone(v value, user *node) value {
	f := r.f
	if c, ok := r.copies[v]; ok {
		return c
	}
	d := f.defOf(v)
	if isParam(d) || f.carrier(d) == r.b || r.keeps(d) {
		return v
	}
	n := *d
	n.src = append([]ir.Operand(nil), d.src...)
	n.block = int32(r.b)
	for i := range n.src {
		if n.src[i].Kind == ir.OperandReg {
			n.src[i].Reg = ir.Reg(r.clone(value(n.src[i].Reg), user))
		}
	}
	c := f.newValue(f.vals[v].words, f.vals[v].file)
	f.vals[c].uniform = f.vals[v].uniform
	f.vals[c].defs = 1
	if t, ok := f.sign[v]; ok {
		f.sign[c] = r.clone(t, user)
	}
	n.dst = []value{c}
	f.nodes = append(f.nodes, n)
	f.vals[c].def = int32(len(f.nodes) - 1)
	r.pre = append(r.pre, int32(len(f.nodes)-1))
	r.copies[v] = c
	return c
}
