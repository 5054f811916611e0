package opt

import (
	"slices"

	"github.com/warptune/warptune/simengine/assemble/hir"
	"github.com/warptune/warptune/simengine/assemble/vreg"
	"github.com/warptune/warptune/simengine/ir"
)

// Rematerialisation (Briggs, Cooper and Torczon, PLDI 1992): cheap values are computed again in the
// blocks that use them. It runs only for kernels whose registers would otherwise cost occupancy or
// exceed the cap.

// RematLimit is the largest number of PTX instructions that are computed again rather than kept in
// a register.
//
// Evidence, kernels: ptxas repeats tile coordinates computed from %tid in sgemm's main loop. Seven
// covers those chains; ptxas repeats fewer of them.
const RematLimit = 7

// Limits is a range of limits of rematerialisation that come to the same.
type Limits struct{ Least, Most int }

// Has reports whether a limit is one of them.
func (l Limits) Has(limit int) bool { return l.Least <= limit && limit <= l.Most }

// RematInner is the limit with which values are computed again in innermost loops, too.
const RematInner = RematLimit + 1

// Rematerialise computes again, in every block outside innermost loops, values of other blocks that
// take up to reduce instructions. It returns the limits that come to the same.
func Rematerialise(f *hir.Func, reduce int) Limits {
	if reduce == 0 {
		return Limits{}
	}
	same, inner := Limits{1, RematLimit}, f.InnermostLoops()
	if reduce == RematInner {
		same, inner = Limits{RematInner, RematInner}, make([]bool, len(inner))
	}
	for _, b := range f.Order {
		if inner[b] {
			continue
		}
		r := rematerialiser{f: f, b: b, reduce: reduce, same: &same, copies: map[vreg.Value]vreg.Value{}}
		hb := &f.Blocks[b]
		var out []int32
		for _, ni := range hb.Nodes {
			r.pre = r.pre[:0]
			for i := range f.Nodes[ni].Src {
				o := &f.Nodes[ni].Src[i]
				if (o.Kind == ir.OperandReg || o.Kind == ir.OperandAddr) && o.Reg != ir.NoReg && r.candidate(vreg.Value(o.Reg)) {
					v := r.clone(vreg.Value(o.Reg), &f.Nodes[ni])
					f.Nodes[ni].Src = slices.Clone(f.Nodes[ni].Src) // shared with other copies of the function
					f.Nodes[ni].Src[i].Reg = ir.Reg(v)
				}
			}
			out = append(out, r.pre...)
			out = append(out, ni)
		}
		hb.Nodes = out
	}
	f.CountDefs()
	return same
}

// rematerialiser repeats computations in one block.
type rematerialiser struct {
	f      *hir.Func
	b      int
	reduce int                       // instructions to repeat at most for a value
	same   *Limits                   // with which all was decided alike so far
	copies map[vreg.Value]vreg.Value // by value: its copy in the block
	pre    []int32                   // nodes to insert before the present one
}

// candidate reports whether v comes from another block and is cheap to compute from special
// registers, parameters and constants.
func (r *rematerialiser) candidate(v vreg.Value) bool {
	d := r.f.DefOf(v)
	if d == nil || r.f.Carrier(d) == r.b || hir.IsParam(d) || r.keeps(d) {
		return false
	}
	cost := r.cost(v, 0)
	if cost > min(r.reduce, RematLimit) {
		r.same.Most = min(r.same.Most, cost-1)
		return false
	}
	r.same.Least = max(r.same.Least, cost)
	return true
}

// cost is the number of instructions to repeat for v, very large where it cannot be repeated.
func (r *rematerialiser) cost(v vreg.Value, depth int) int {
	const never = 1 << 20
	d := r.f.DefOf(v)
	if d == nil || depth > RematLimit || d.Guard != vreg.None || len(d.Dst) != 1 || d.HasEffect() || r.f.Values[v].File != vreg.General {
		return never
	}
	if hir.IsParam(d) || d.Op == ir.Mov && len(d.Src) == 1 && d.Src[0].Kind == ir.OperandSpecial {
		if d.Op == ir.Mov && hir.VolatileSpecial(d.Src[0].Special) {
			return never
		}
		return 0
	}
	switch d.Op {
	case ir.Ld, ir.Ldu, ir.Tex, ir.Txq, ir.Suld, ir.Movmatrix, ir.Div, ir.Rem, ir.Rcp, ir.Sqrt, ir.Rsqrt, ir.Sin, ir.Cos, ir.Lg2, ir.Ex2, ir.Tanh:
		return never
	}
	c := 1
	if r.f.Values[v].Uniform || d.Op == ir.Cvt {
		c = 0
	}
	for i := range d.Src {
		switch o := &d.Src[i]; o.Kind {
		case ir.OperandReg:
			c += r.cost(vreg.Value(o.Reg), depth+1)
		case ir.OperandVar:
			c++
		}
		if c >= never {
			return never
		}
	}
	return c
}

// keeps reports whether a special register stays in a register: reading one takes long, and is
// repeated only at RematLimit.
func (r *rematerialiser) keeps(d *hir.Node) bool {
	if d.Op != ir.Mov || len(d.Src) != 1 || d.Src[0].Kind != ir.OperandSpecial {
		return false
	}
	if r.reduce < RematLimit {
		r.same.Most = min(r.same.Most, RematLimit-1)
		return true
	}
	r.same.Least = RematLimit
	return false
}

// clone repeats the computation of v in the block and returns its value there.
func (r *rematerialiser) clone(v vreg.Value, user *hir.Node) vreg.Value {
	f := r.f
	if c, ok := r.copies[v]; ok {
		return c
	}
	d := f.DefOf(v)
	if hir.IsParam(d) || f.Carrier(d) == r.b || r.keeps(d) {
		return v
	}
	n := *d
	n.Src = append([]ir.Operand(nil), d.Src...)
	n.Block = int32(r.b)
	for i := range n.Src {
		if n.Src[i].Kind == ir.OperandReg {
			n.Src[i].Reg = ir.Reg(r.clone(vreg.Value(n.Src[i].Reg), user))
		}
	}
	c := f.NewValue(f.Values[v].Words, f.Values[v].File)
	f.Values[c].Uniform = f.Values[v].Uniform
	f.Values[c].Defs = 1
	if t, ok := f.Sign[v]; ok {
		f.Sign[c] = r.clone(t, user)
	}
	n.Dst = []vreg.Value{c}
	f.Nodes = append(f.Nodes, n)
	f.Values[c].Def = int32(len(f.Nodes) - 1)
	r.pre = append(r.pre, int32(len(f.Nodes)-1))
	r.copies[v] = c
	return c
}
