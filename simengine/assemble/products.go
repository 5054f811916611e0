package assemble

import (
	"slices"

	"github.com/warptune/warptune/simengine/ir"
)

// Kernels with products of matrices are not made to need fewer registers: of 192 of them
// (deploy/calibrate/validation/tenth, ptxas 13.0.88 for sm_90) 52 % have a count within 10 % of what
// their own order needs when loads from global memory come first, the next occupancy step
// up, and 33 % when their blocks are ordered and computations repeated as in other kernels. Of what ptxas
// has instead, some take more than that step (135 and 178 of attention with 64 and 128 keys at a time, for 128 and
// 168), as it has as many loads of fragments under way as it has to wait for the first.

// multiplies says whether there are products of matrices among instructions.
func multiplies(insts []inst) bool {
	return slices.ContainsFunc(insts, func(in inst) bool {
		switch mops[in.op].class {
		case Tensor, TensorShort, TensorSingle, TensorSingleShort, TensorDouble:
			return true
		}
		return false
	})
}

// multiplies says whether a function has products of matrices.
func (f *fn) multiplies() bool {
	return slices.ContainsFunc(f.order, func(b int) bool { return multiplies(f.mblocks[b].insts) })
}

// loadFirst puts the loads from global memory of blocks with products of matrices, and what they
// need, before the rest.
func (f *fn) loadFirst(s *scratch) {
	for _, b := range f.order {
		mb := &f.mblocks[b]
		if !multiplies(mb.insts) {
			continue
		}
		g := &s.dag
		g.ops = g.ops.fill(mb.insts)
		f.findEdges(mb.insts, s, false, g)
		d := newDemand(g)
		for i := range g.insts {
			if in := &g.insts[i]; mops[in.op].class == Load && in.space != ir.Shared {
				d.visit(int32(i))
			}
		}
		for i := range g.insts {
			if !d.done[i] {
				d.done[i] = true
				d.out = append(d.out, int32(i))
			}
		}
		mb.insts = arrange(mb.insts, d.out)
	}
}
