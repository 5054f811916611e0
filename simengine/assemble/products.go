package assemble

import (
	"slices"

	"github.com/warptune/warptune/simengine/ir"
)

// Blocks with products of matrices keep the program's order but for their loads from global
// memory, which come first: of 192 kernels (deploy/calibrate/validation/tenth, ptxas 13.0.88 for
// sm_90) 68 % have a count within 10 % of ptxas' so, and 54 % when such blocks are ordered as others are.
// Some take more than the next occupancy step (135 and 178 registers of attention with 64 and 128 keys
// at a time, for 128 and 168), as ptxas has as many loads of fragments under way as it has to wait for
// the first.

// multiplies says whether there are products of matrices among instructions.
func multiplies(insts []inst) bool {
	return slices.ContainsFunc(insts, func(in inst) bool {
		switch in.op.class() {
		case Tensor, TensorShort, TensorSingle, TensorSingleShort, TensorDouble:
			return true
		}
		return false
	})
}

// loadFirst puts the loads from global memory of blocks with products of matrices, and what they
// need, before the rest.
func (f *mfn) loadFirst(s *scratch) {
	for _, b := range f.order {
		mb := &f.blocks[b]
		if !multiplies(mb.insts) {
			continue
		}
		g := &s.dag
		g.ops = g.ops.fill(mb.insts)
		f.findEdges(mb.insts, s, false, g)
		d := newDemand(g)
		for i := range g.insts {
			if in := &g.insts[i]; in.op.class() == Load && in.space != ir.Shared {
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
