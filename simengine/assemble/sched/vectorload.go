package sched

import (
	"slices"

	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/assemble/rules"
)

// Orders that use up one vector load after the other.
//
// The readers of a load of several words follow it, with what they depend on, before the next such
// load. In a tile of multiply-adds the vectors of one side then wait one at a time; in program
// order all rows wait for the columns, in Sethi-Ullman order all columns for the rows.
//
// Evidence, ptxas corpus: matrix products of 8 rows a thread fit 32 registers for sm_90 so.

// ByVectorLoad reorders every block that needs fewer registers with its vector loads used up one by
// one. It is for programs that a cap binds. It reports whether any block was reordered.
func ByVectorLoad(f *mir.Func, s *Scratch) (changed bool) {
	if !f.Target.Uses(rules.VectorLoadOrder) {
		return false
	}
	return reorder(f, s, 0, func(_ int, g *dag, _ []uint8) []int32 { return vectorOrder(g) })
}

// vectorOrder returns the instructions of a block in Sethi-Ullman order, with the readers of a
// vector load as roots where the load stands.
func vectorOrder(g *dag) []int32 {
	d := newSethiUllman(g)
	for i := range g.insts {
		in := &g.insts[i]
		if in.Op.Class() == mir.Load && in.Dst[0].N > 1 && !d.done[i] {
			for _, r := range consumers(g, int32(i)) {
				d.visit(r)
			}
		}
		if !hasReader(g, int32(i)) {
			d.visit(int32(i))
		}
	}
	return d.rest()
}

// consumers lists the instructions of the block that read a result of instruction i, in program
// order.
func consumers(g *dag, i int32) []int32 {
	var out []int32
	for k := g.head[i]; k >= 0; k = g.edges[k].next {
		to := g.edges[k].to
		for _, u := range g.ops.Reads(to) {
			for _, d := range g.ops.Writes(i) {
				if u.Value == d.Value && !slices.Contains(out, to) {
					out = append(out, to)
				}
			}
		}
	}
	slices.Sort(out)
	return out
}
