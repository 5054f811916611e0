package opt

import (
	"slices"

	"github.com/warptune/warptune/simengine/assemble/hir"
	"github.com/warptune/warptune/simengine/assemble/vreg"
	"github.com/warptune/warptune/simengine/disjoint"
	"github.com/warptune/warptune/simengine/ir"
)

// Webs: the definitions of a PTX register that reach common uses (Muchnick, "Advanced Compiler Design
// and Implementation", 1997, section 16.3). Definitions that share no use become values of their own,
// so that passes find values with one definition. A definition that nothing reads goes.
//
//	mov %r1, 0         goes: the load overwrites it
//	ld  {%r1, ...}

// SplitWebs gives every web a value of its own. It is the first pass: blocks are the kernel's.
func SplitWebs(f *hir.Func) error {
	if !f.Target.Specific || len(f.Order) == 0 {
		return nil
	}
	w := webs{f: f, live: f.Kernel.Liveness(), split: make([]bool, len(f.Values))}
	found := false
	for v := range f.Values {
		w.split[v] = f.Values[v].Defs > 1 && !w.live.In[f.Order[0]].Has(ir.Reg(v))
		found = found || w.split[v]
	}
	if !found {
		return nil
	}
	w.cur = make([]int32, len(f.Values))
	w.in, w.out = make([][]webOf, len(f.Blocks)), make([][]webOf, len(f.Blocks))
	for _, b := range f.Order {
		w.number(b)
	}
	for _, b := range f.Order {
		for _, s := range f.Blocks[b].Succs {
			w.join(b, s)
		}
	}
	w.names, w.named = map[int32]vreg.Value{}, make([]bool, len(f.Values))
	w.next = 0
	for _, b := range f.Order {
		w.rename(b)
	}
	f.CountDefs()
	return nil
}

// webOf is the web of a value at the start or the end of a block.
type webOf struct {
	v   vreg.Value
	web int32
}

// webs numbers the webs of the values in split and joins those that meet.
type webs struct {
	f       *hir.Func
	live    *ir.Liveness
	split   []bool
	sets    disjoint.Sets
	in, out [][]webOf // by block, of the values live there, ascending
	cur     []int32   // by value: its web now, -1 none
	next    int32     // of the next definition, when they are renamed
	names   map[int32]vreg.Value
	named   []bool // by value: one of its webs keeps its name
}

// enter sets the webs at the start of block b.
func (w *webs) enter(b int) {
	for v := range w.cur {
		w.cur[v] = -1
	}
	for _, x := range w.in[b] {
		w.cur[x.v] = x.web
	}
}

// number gives the values live at the start of block b and the definitions in it webs.
func (w *webs) number(b int) {
	w.live.In[b].Each(func(r ir.Reg) {
		if w.split[r] {
			w.in[b] = append(w.in[b], webOf{vreg.Value(r), w.sets.Add()})
		}
	})
	w.enter(b)
	for _, ni := range w.f.Blocks[b].Nodes {
		n := &w.f.Nodes[ni]
		for _, d := range n.Dst {
			if d >= 0 && w.split[d] && (w.cur[d] < 0 || !keepsOld(n, d)) {
				w.cur[d] = w.sets.Add()
			}
		}
	}
	w.live.Out[b].Each(func(r ir.Reg) {
		if w.split[r] && w.cur[r] >= 0 {
			w.out[b] = append(w.out[b], webOf{vreg.Value(r), w.cur[r]})
		}
	})
}

// keepsOld reports whether what a value held before is part of it after a node that writes it: the
// node is guarded, or it reads the value too, as a product reads its accumulators.
func keepsOld(n *hir.Node, v vreg.Value) bool {
	return n.Guard != vreg.None || n.Op == ir.Wgmma && n.Reads(v) > 0
}

// join makes what leaves block b and what enters its successor s the same webs.
func (w *webs) join(b, s int) {
	out := w.out[b]
	for _, x := range w.in[s] {
		for len(out) > 0 && out[0].v < x.v {
			out = out[1:]
		}
		if len(out) > 0 && out[0].v == x.v {
			w.sets.Join(x.web, out[0].web)
		}
	}
}

// name is the value that a web of v goes by.
func (w *webs) name(v vreg.Value, web int32) vreg.Value {
	web = w.sets.Find(web)
	t, ok := w.names[web]
	if !ok {
		t = v
		if w.named[v] {
			t = w.f.NewValue(w.f.Values[v].Words, w.f.Values[v].File)
		}
		w.named[v], w.names[web] = true, t
	}
	return t
}

// rename names the operands of block b by their webs, which it follows as number did.
func (w *webs) rename(b int) {
	w.enter(b)
	w.next += int32(len(w.in[b]))
	named := func(v vreg.Value) vreg.Value {
		if v < 0 || int(v) >= len(w.split) || !w.split[v] || w.cur[v] < 0 {
			return v
		}
		return w.name(v, w.cur[v])
	}
	for _, ni := range w.f.Blocks[b].Nodes {
		n := &w.f.Nodes[ni]
		n.Guard = named(n.Guard)
		for i := range n.Src {
			if o := &n.Src[i]; (o.Kind == ir.OperandReg || o.Kind == ir.OperandAddr) && o.Reg != ir.NoReg {
				o.Reg = ir.Reg(named(vreg.Value(o.Reg)))
			}
		}
		for i, d := range n.Dst {
			if d < 0 || !w.split[d] {
				continue
			}
			if w.cur[d] < 0 || !keepsOldNamed(n, d, named) {
				w.cur[d] = w.next
				w.next++
			}
			n.Dst[i] = named(d)
		}
	}
}

// keepsOldNamed is keepsOld for a node whose sources are renamed already.
func keepsOldNamed(n *hir.Node, v vreg.Value, named func(vreg.Value) vreg.Value) bool {
	return keepsOld(n, named(v))
}

// JoinInitials makes constants that guarded loads overwrite a part of these, so that their results have
// one definition:
//
//	mov %r1, 0; @%p1 ld %r1, ...
func JoinInitials(f *hir.Func) error {
	if !f.Target.Specific {
		return nil
	}
	initial := map[vreg.Value]int{} // by value: where in the block it was set to a constant and not read since
	for _, b := range f.Order {
		clear(initial)
		hb := &f.Blocks[b]
		gone := map[int]bool{}
		for i, ni := range hb.Nodes {
			n := &f.Nodes[ni]
			n.EachRead(func(v vreg.Value) { delete(initial, v) })
			if joinInitial(f, hb, n, initial) {
				for _, d := range n.Dst {
					gone[initial[d]] = true
				}
			}
			for _, d := range n.Dst {
				delete(initial, d)
			}
			if n.Guard == vreg.None && hir.SetsConstant(n) && n.Dst[0] >= 0 && f.Values[n.Dst[0]].Defs == 2 {
				initial[n.Dst[0]] = i
			}
		}
		if len(gone) == 0 {
			continue
		}
		kept := make([]int32, 0, len(hb.Nodes)-len(gone))
		for i, ni := range hb.Nodes {
			if !gone[i] {
				kept = append(kept, ni)
			}
		}
		hb.Nodes = kept
	}
	f.CountDefs()
	return nil
}

// joinInitial gives a guarded load the constants that all its results were set to, and reports whether
// they were.
func joinInitial(f *hir.Func, hb *hir.Block, n *hir.Node, initial map[vreg.Value]int) bool {
	if n.Op != ir.Ld || n.Guard == vreg.None || len(n.Dst) == 0 {
		return false
	}
	values := make([]ir.Operand, len(n.Dst))
	for i, d := range n.Dst {
		at, ok := initial[d]
		if !ok || slices.Contains(n.Dst[:i], d) {
			return false
		}
		values[i] = f.Nodes[hb.Nodes[at]].Src[0]
	}
	n.Else = values
	return true
}
