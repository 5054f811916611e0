package isel

import (
	"github.com/warptune/warptune/simengine/assemble/hir"
	"github.com/warptune/warptune/simengine/assemble/vreg"
	"github.com/warptune/warptune/simengine/disjoint"
	"github.com/warptune/warptune/simengine/ir"
)

// Induction pointers in uniform registers.
//
// A pointer that starts at a parameter and is stepped by the same amount in all lanes moves to the uniform file if
// all lanes leave its loops together. Every reader must step it, add a multiplication of its own lane to it, or be
// the one access at its address. A step that is a multiplication is UIMAD.WIDE, and the pointer is read in place; a
// constant step is UIADD3, and the pointer is moved to general registers for its readers.
//
// Evidence, ptxas corpus: 142 of 145 programs of thirteen kernels with such pointers for sm_90. Not
// where lanes leave the loop one by one (hist_bytes), where all lanes use one address
// (nearest_centre), where no multiplication is added (layernorm), where several accesses use it
// (template_ssd), or where the CTA's index is in its start (gemv_columns).

// uniformInduction finds groups of values that are one such pointer.
type uniformInduction struct {
	s *selector

	in      []bool        // by value: part of a pointer
	groups  disjoint.Sets // values of the same pointer
	bad     []bool        // by representative: some definition or reader rules it out
	wide    []bool        // by representative: multiplications step it
	reached []int         // by representative: accesses at its address
}

// uniformPointers moves such pointers to the uniform file.
func (s *selector) uniformPointers() {
	n := len(s.hir.Values)
	w := uniformInduction{s: s, in: make([]bool, n), groups: disjoint.New(n), bad: make([]bool, n), wide: make([]bool, n), reached: make([]int, n)}
	if !w.begin() {
		return
	}
	for w.extend() {
	}
	w.check()
	for v, in := range w.in {
		if !in || w.bad[w.find(vreg.Value(v))] {
			continue
		}
		s.hir.Values[v].File = vreg.Uniform
		if w.wide[w.find(vreg.Value(v))] {
			s.steppedInPlace[vreg.Value(v)] = true
		}
	}
}

// eachNode calls do for every node.
func (s *selector) eachNode(do func(n *hir.Node)) {
	for _, b := range s.hir.Order {
		for _, ni := range s.hir.Blocks[b].Nodes {
			do(&s.hir.Nodes[ni])
		}
	}
}

// begin marks the variables that start at a parameter, and reports whether there are any.
func (w *uniformInduction) begin() (found bool) {
	w.s.eachNode(func(n *hir.Node) {
		if v := w.written(n); v != vreg.None && w.s.hir.Values[v].Defs > 1 && w.starts(n) {
			w.in[v], found = true, true
		}
	})
	return found
}

// written returns the uniform 64-bit value that a node writes, None where it writes something else.
func (w *uniformInduction) written(n *hir.Node) vreg.Value {
	if len(n.Dst) != 1 || n.Dst[0] < 0 {
		return vreg.None
	}
	if vi := &w.s.hir.Values[n.Dst[0]]; !vi.Uniform || vi.Words != 2 || vi.File != vreg.General {
		return vreg.None
	}
	return n.Dst[0]
}

// copies reports whether a node copies a register.
func (w *uniformInduction) copies(n *hir.Node) bool {
	return (n.Op == ir.Mov || n.Op == ir.Cvta) && n.Guard == vreg.None && len(n.Src) == 1 && n.Src[0].Kind == ir.OperandReg
}

// starts reports whether a node copies a parameter, or adds to one on the uniform datapath.
func (w *uniformInduction) starts(n *hir.Node) bool {
	if n.Op != ir.Add {
		return w.copies(n) && w.address(vreg.Value(n.Src[0].Reg), 0) && !w.ofSpecial(n, 0)
	}
	return w.s.uniformOp(n) && w.sum(n, 0) && !w.ofSpecial(n, 0)
}

// ofSpecial reports whether a node computes from a special register. Where a CTA begins is computed
// in general registers, and so is the pointer (kernels: gemv_columns, autocorr_lags).
func (w *uniformInduction) ofSpecial(n *hir.Node, depth int) bool {
	for i := range n.Src {
		switch o := &n.Src[i]; {
		case o.Kind == ir.OperandSpecial || depth > 8:
			return true
		case o.Kind == ir.OperandReg:
			if d := w.s.hir.DefOf(vreg.Value(o.Reg)); d != nil && w.ofSpecial(d, depth+1) {
				return true
			}
		}
	}
	return false
}

// sum reports whether a node adds to an address.
func (w *uniformInduction) sum(n *hir.Node, depth int) bool {
	for i := range n.Src {
		if o := &n.Src[i]; o.Kind == ir.OperandReg && w.address(vreg.Value(o.Reg), depth) {
			return true
		}
	}
	return false
}

// address reports whether a value is a parameter, or a parameter with additions.
func (w *uniformInduction) address(v vreg.Value, depth int) bool {
	d := w.s.hir.DefOf(v)
	switch {
	case d == nil || depth > 8:
		return false
	case hir.IsParam(d):
		return true
	case d.Op == ir.Add && w.s.uniformOp(d):
		return w.sum(d, depth+1)
	}
	return w.copies(d) && w.address(vreg.Value(d.Src[0].Reg), depth+1)
}

// extend joins values that are copied from or added to a pointer to its group, and reports whether
// any group changed.
func (w *uniformInduction) extend() (changed bool) {
	w.s.eachNode(func(n *hir.Node) {
		v := w.written(n)
		if v == vreg.None || n.Op != ir.Add && !w.copies(n) {
			return
		}
		for i := range n.Src {
			o := &n.Src[i]
			if o.Kind == ir.OperandReg && w.in[o.Reg] && vreg.Value(o.Reg) != v {
				changed = w.join(v, vreg.Value(o.Reg)) || changed
			}
		}
	})
	return changed
}

// find returns the representative of a value's group.
func (w *uniformInduction) find(v vreg.Value) vreg.Value { return vreg.Value(w.groups.Find(int32(v))) }

// join puts v into the group of u, and reports whether it was not there.
func (w *uniformInduction) join(v, u vreg.Value) bool {
	fresh := !w.in[v]
	w.in[v] = true
	return w.groups.Join(int32(v), int32(u)) || fresh
}

// check marks the groups that some definition or reader rules out.
func (w *uniformInduction) check() {
	w.s.eachNode(func(n *hir.Node) {
		for _, d := range n.Dst {
			if d >= 0 && w.in[d] && !w.writes(n) {
				w.bad[w.find(d)] = true
			}
		}
		for i := range n.Src {
			o := &n.Src[i]
			if (o.Kind == ir.OperandReg || o.Kind == ir.OperandAddr) && o.Reg != ir.NoReg && w.in[o.Reg] && !w.reads(n, i) {
				w.bad[w.find(vreg.Value(o.Reg))] = true
			}
		}
	})
}

// writes reports whether a node may define a uniform pointer: it starts or steps one.
func (w *uniformInduction) writes(n *hir.Node) bool {
	switch {
	case w.written(n) == vreg.None || w.s.apart(int(n.Block)):
		return false
	case w.copies(n):
		return w.in[n.Src[0].Reg] || w.starts(n)
	case w.starts(n):
		return true
	case n.Op != ir.Add || n.Guard != vreg.None || w.s.leftDivergently(int(n.Block)):
		return false
	}
	for i := range n.Src {
		switch o := &n.Src[i]; {
		case o.Kind == ir.OperandImm, o.Kind == ir.OperandReg && w.in[o.Reg]:
		case o.Kind == ir.OperandReg && w.s.isWideMul(vreg.Value(o.Reg), true):
			w.wide[w.find(n.Dst[0])] = true
		default:
			return false
		}
	}
	return true
}

// reads reports whether a node may read a uniform pointer as its source i: it steps it, or makes a
// lane's address of it.
func (w *uniformInduction) reads(n *hir.Node, i int) bool {
	switch {
	case n.Src[i].Kind == ir.OperandAddr && n.Space == ir.Global:
		g := w.find(vreg.Value(n.Src[i].Reg))
		w.reached[g]++
		return w.reached[g] == 1
	case w.copies(n):
		return w.in[n.Dst[0]]
	case n.Op != ir.Add || len(n.Dst) != 1 || n.Dst[0] < 0 || n.Src[i].Kind != ir.OperandReg:
		return false
	case w.in[n.Dst[0]]:
		return true
	}
	o := &n.Src[1-i]
	return o.Kind == ir.OperandReg && w.s.isWideMul(vreg.Value(o.Reg), false)
}

// isWideMul reports whether a value is a 32x32-bit multiplication to 64 bits, uniform or not as
// asked.
func (s *selector) isWideMul(v vreg.Value, uniform bool) bool {
	d := s.hir.DefOf(v)
	return d != nil && d.Op == ir.Mul && d.Mod&ir.ModWide != 0 && hir.Is32Bit(d) && s.hir.Values[v].Uniform == uniform
}

// leftDivergently reports whether lanes of a warp may leave the loop around block b at different
// times.
func (s *selector) leftDivergently(b int) bool {
	f := s.hir
	h := f.Kernel.Blocks[b].LoopHead
	for _, p := range f.Order {
		if !f.Blocks[p].Divergent || f.Kernel.Blocks[p].LoopHead != h {
			continue
		}
		for _, q := range f.Blocks[p].Succs {
			if f.Blocks[q].LoopDepth < f.Blocks[b].LoopDepth {
				return true
			}
		}
	}
	return false
}

// Addresses that all lanes agree on, where registers are scarce. The uniform datapath computes and steps them, and each
// reader in a loop has them moved to general registers:
//
//	UIMAD.WIDE UR4, UR6, UR7      a row's offset, before the loop
//	UIADD3     UR8, UR4, UR10     with a parameter
//	IMAD.WIDE  R4, R2, 2, UR8     in the loop: the lane's place in the row
//
// Evidence, ptxas corpus (sm_90a): of 14 programs of segment_sum_kernel the 6 that would take more than the registers of
// their occupancy step have all such addresses in uniform registers (UIADD3.X), the others all in general ones. Not
// where a division is on the way to them, which general registers hold (gemm_mma).

// loopAddresses returns the values of 64 bits that loops step, or read without computing them, and that the uniform
// datapath computes from parameters and special registers alone.
func (s *selector) loopAddresses(writers [][]int32) (out []ir.Operand) {
	x := onUniformAlone{s, writers, make([]trust, len(s.hir.Values))}
	add := func(v vreg.Value) {
		if vi := &s.hir.Values[v]; vi.Uniform && vi.Words == 2 && vi.File == vreg.General && x.computes(v) {
			out = append(out, ir.Operand{Kind: ir.OperandReg, Reg: ir.Reg(v)})
		}
	}
	for v := range s.hir.Values {
		if s.hir.Values[v].Defs > 1 {
			add(vreg.Value(v))
		}
	}
	for _, b := range s.hir.Order {
		for _, ni := range s.hir.Blocks[b].Nodes {
			for i := range s.hir.Nodes[ni].Src {
				o := &s.hir.Nodes[ni].Src[i]
				if o.Kind != ir.OperandReg && o.Kind != ir.OperandAddr || o.Reg == ir.NoReg {
					continue
				}
				if d := s.hir.DefOf(vreg.Value(o.Reg)); d != nil && s.hir.Blocks[d.Block].LoopDepth < s.hir.Blocks[b].LoopDepth {
					add(vreg.Value(o.Reg))
				}
			}
		}
	}
	return out
}

// onUniformAlone finds the values that the uniform datapath computes from parameters and special registers alone.
type onUniformAlone struct {
	s       *selector
	writers [][]int32 // by value
	known   []trust   // by value
}

// trust is what is known of a value.
type trust uint8

const (
	unknown trust = iota
	trusted       // also while its writers are being looked at
	refused
)

// computes reports whether v is such a value.
func (x *onUniformAlone) computes(v vreg.Value) bool {
	if x.known[v] != unknown {
		return x.known[v] == trusted
	}
	x.known[v] = trusted
	for _, ni := range x.writers[v] {
		if !x.computesNode(&x.s.hir.Nodes[ni]) {
			x.known[v] = refused
			return false
		}
	}
	return true
}

// computesNode reports whether the results of a node are.
func (x *onUniformAlone) computesNode(n *hir.Node) bool {
	if hir.IsParam(n) {
		return true
	}
	if !x.s.onUniformDatapath(n) {
		return false
	}
	for i := range n.Src {
		if o := &n.Src[i]; o.Kind == ir.OperandReg && (!x.s.hir.Values[o.Reg].Uniform || !x.computes(vreg.Value(o.Reg))) {
			return false
		}
	}
	return true
}
