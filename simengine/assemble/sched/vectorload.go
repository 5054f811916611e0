package sched

import (
	"slices"

	"github.com/warptune/warptune/simengine/assemble/mir"
)

// ByVectorLoad orders every block for a cap that the order it has does not keep: as
// frugal does, with the results of a load of several words used up one load after
// the other where that needs fewer registers. Tiles of products are such blocks: in
// the program's order all rows' vectors wait while the columns take turns, in the
// order of demand all columns wait while the rows do. ptxas keeps the vectors under a
// cap, too (matrix products of 8 rows a thread under 32 registers for sm_90).
func ByVectorLoad(f *mir.Func, s *Scratch) (changed bool) {
	return reorder(f, s, 0, func(_ int, g *dag, _ []uint8) []int32 { return vectorOrder(g) })
}

// vectorOrder orders a block by demand, what reads a vector load counting as
// demanded where the load stands.
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

// consumers lists the instructions of its block that read a result of one, in
// program order.
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
