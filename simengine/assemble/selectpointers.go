package assemble

import (
	"github.com/warptune/warptune/simengine/disjoint"
	"github.com/warptune/warptune/simengine/ir"
)

// walkers finds the pointers that walk an array in step for all lanes, and moves them to the
// uniform file: variables that start at a parameter, and what is added to them, of which
// every reader adds a step or makes an address of a lane's own of it, with a product, or a single
// access has them for its address, in loops that no lane leaves before others. In the sm_90 machine code of
// 142 of 145 programs of thirteen kernels with such pointers (deploy/calibrate/datasets and
// benchmark_hub's gemm, ptxas 13.0.88) they are in uniform registers; not where lanes leave the loop
// one by one (hist_bytes), where all have one address (nearest_centre), where no product is
// added (layernorm), where several accesses have it (template_ssd), or where the CTA's place is in its start
// (gemv_columns). A step that is a product is added by UIMAD.WIDE, and the pointer then read where it is;
// one of a constant is added by UIADD3, and the pointer moved to general registers to be read.
type walkers struct {
	s *selector

	in      []bool        // by value: it walks
	groups  disjoint.Sets // of values that walk
	bad     []bool        // by the value that stands for a group
	wide    []bool        // by that, whether products step it
	reached []int         // by that, the accesses whose address it is
}

// uniformPointers moves such pointers to the uniform file.
func (s *selector) uniformPointers() {
	n := len(s.f.vals)
	w := walkers{s: s, in: make([]bool, n), groups: disjoint.New(n), bad: make([]bool, n), wide: make([]bool, n), reached: make([]int, n)}
	if !w.begin() {
		return
	}
	for w.extend() {
	}
	w.check()
	for v, in := range w.in {
		if !in || w.bad[w.find(value(v))] {
			continue
		}
		s.f.vals[v].file = fileUniform
		if w.wide[w.find(value(v))] {
			s.summed[value(v)] = true
		}
	}
}

// eachNode calls do for every node of the program.
func (s *selector) eachNode(do func(n *node)) {
	for _, b := range s.f.order {
		for _, ni := range s.f.blocks[b].nodes {
			do(&s.f.nodes[ni])
		}
	}
}

// begin marks the variables that a parameter starts, and says whether there are any.
func (w *walkers) begin() (found bool) {
	w.s.eachNode(func(n *node) {
		if v := w.written(n); v != noValue && w.s.f.vals[v].defs > 1 && w.starts(n) {
			w.in[v], found = true, true
		}
	})
	return found
}

// written is the value of two words, the same in all lanes, that a node writes.
func (w *walkers) written(n *node) value {
	if len(n.dst) != 1 || n.dst[0] < 0 {
		return noValue
	}
	if vi := &w.s.f.vals[n.dst[0]]; !vi.uniform || vi.words != 2 || vi.file != fileGeneral {
		return noValue
	}
	return n.dst[0]
}

// copies says whether a node copies a value.
func (w *walkers) copies(n *node) bool {
	return (n.op == ir.Mov || n.op == ir.Cvta) && n.guard == noValue && len(n.src) == 1 && n.src[0].Kind == ir.OperandReg
}

// starts says whether a node copies a parameter or what the uniform datapath adds to one.
func (w *walkers) starts(n *node) bool {
	if n.op != ir.Add {
		return w.copies(n) && w.address(value(n.src[0].Reg), 0) && !w.ofSpecial(n, 0)
	}
	return w.s.uniformOp(n) && w.sum(n, 0) && !w.ofSpecial(n, 0)
}

// ofSpecial says whether a node computes with a special register. Where a CTA begins is
// computed in general registers (gemv_columns, autocorr_lags), and so is the pointer.
func (w *walkers) ofSpecial(n *node, depth int) bool {
	for i := range n.src {
		switch o := &n.src[i]; {
		case o.Kind == ir.OperandSpecial || depth > 8:
			return true
		case o.Kind == ir.OperandReg:
			if d := w.s.f.defOf(value(o.Reg)); d != nil && w.ofSpecial(d, depth+1) {
				return true
			}
		}
	}
	return false
}

// sum says whether a node adds to an address.
func (w *walkers) sum(n *node, depth int) bool {
	for i := range n.src {
		if o := &n.src[i]; o.Kind == ir.OperandReg && w.address(value(o.Reg), depth) {
			return true
		}
	}
	return false
}

// address says whether a value is a parameter or one that something was added to.
func (w *walkers) address(v value, depth int) bool {
	d := w.s.f.defOf(v)
	switch {
	case d == nil || depth > 8:
		return false
	case isParam(d):
		return true
	case d.op == ir.Add && w.s.uniformOp(d):
		return w.sum(d, depth+1)
	}
	return w.copies(d) && w.address(value(d.src[0].Reg), depth+1)
}

// extend joins the groups of what copies a pointer or adds to it, and says whether that changed any.
func (w *walkers) extend() (changed bool) {
	w.s.eachNode(func(n *node) {
		v := w.written(n)
		if v == noValue || n.op != ir.Add && !w.copies(n) {
			return
		}
		for i := range n.src {
			o := &n.src[i]
			if o.Kind == ir.OperandReg && w.in[o.Reg] && value(o.Reg) != v {
				changed = w.join(v, value(o.Reg)) || changed
			}
		}
	})
	return changed
}

// find returns what stands for the group of a value.
func (w *walkers) find(v value) value { return value(w.groups.Find(int32(v))) }

// join puts a value into the group of one that walks, and says whether it was in another or none.
func (w *walkers) join(v, u value) bool {
	fresh := !w.in[v]
	w.in[v] = true
	return w.groups.Join(int32(v), int32(u)) || fresh
}

// check finds the groups that have a writer or a reader that rules uniform registers out.
func (w *walkers) check() {
	w.s.eachNode(func(n *node) {
		for _, d := range n.dst {
			if d >= 0 && w.in[d] && !w.writes(n) {
				w.bad[w.find(d)] = true
			}
		}
		for i := range n.src {
			o := &n.src[i]
			if (o.Kind == ir.OperandReg || o.Kind == ir.OperandAddr) && o.Reg != ir.NoReg && w.in[o.Reg] && !w.reads(n, i) {
				w.bad[w.find(value(o.Reg))] = true
			}
		}
	})
}

// writes says whether a node starts a pointer or steps one.
func (w *walkers) writes(n *node) bool {
	switch {
	case w.written(n) == noValue || w.s.f.blocks[n.block].split:
		return false
	case w.copies(n):
		return w.in[n.src[0].Reg] || w.starts(n)
	case w.starts(n):
		return true
	case n.op != ir.Add || n.guard != noValue || w.s.leftByLanes(int(n.block)):
		return false
	}
	for i := range n.src {
		switch o := &n.src[i]; {
		case o.Kind == ir.OperandImm, o.Kind == ir.OperandReg && w.in[o.Reg]:
		case o.Kind == ir.OperandReg && w.s.wideProduct(value(o.Reg), true):
			w.wide[w.find(n.dst[0])] = true
		default:
			return false
		}
	}
	return true
}

// reads says whether a node steps the pointer that is its i-th source or makes an address of a lane's own of it.
func (w *walkers) reads(n *node, i int) bool {
	switch {
	case n.src[i].Kind == ir.OperandAddr && n.space == ir.Global:
		g := w.find(value(n.src[i].Reg))
		w.reached[g]++
		return w.reached[g] == 1
	case w.copies(n):
		return w.in[n.dst[0]]
	case n.op != ir.Add || len(n.dst) != 1 || n.dst[0] < 0 || n.src[i].Kind != ir.OperandReg:
		return false
	case w.in[n.dst[0]]:
		return true
	}
	o := &n.src[1-i]
	return o.Kind == ir.OperandReg && w.s.wideProduct(value(o.Reg), false)
}

// wideProduct says whether a value is a product of words that is the same in all lanes, or one that is not.
func (s *selector) wideProduct(v value, uniform bool) bool {
	d := s.f.defOf(v)
	return d != nil && d.op == ir.Mul && d.mod&ir.ModWide != 0 && bits32(d) && s.f.vals[v].uniform == uniform
}

// leftByLanes says whether some lanes of a warp may leave the loop that a block is in
// before the others.
func (s *selector) leftByLanes(b int) bool {
	f := s.f
	h := f.k.Blocks[b].LoopHead
	for _, p := range f.order {
		if !f.blocks[p].div || f.k.Blocks[p].LoopHead != h {
			continue
		}
		for _, q := range f.blocks[p].succs {
			if f.blocks[q].depth < f.blocks[b].depth {
				return true
			}
		}
	}
	return false
}
