package sched

import (
	"slices"

	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/ir"
)

// Blocks with products of matrices keep the program's order but for their loads from global
// memory, which come first: of 192 kernels (deploy/calibrate/validation/tenth, ptxas 13.0.88 for
// sm_90) 68 % have a count within 10 % of ptxas' so, and 54 % when such blocks are ordered as others are.
// Some take more than the next occupancy step (135 and 178 registers of attention with 64 and 128 keys
// at a time, for 128 and 168), as ptxas has as many loads of fragments under way as it has to wait for
// the first.

// hasMMA says whether there are products of matrices among instructions.
func hasMMA(insts []mir.Inst) bool {
	return slices.ContainsFunc(insts, func(in mir.Inst) bool {
		switch in.Op.Class() {
		case mir.Tensor, mir.TensorShort, mir.TensorSingle, mir.TensorSingleShort, mir.TensorDouble:
			return true
		}
		return false
	})
}

// globalLoadsFirst puts the loads from global memory of blocks with products of matrices, and what they
// need, before the rest.
func globalLoadsFirst(f *mir.Func, s *Scratch) {
	for _, b := range f.Order {
		mb := &f.Blocks[b]
		if !hasMMA(mb.Insts) {
			continue
		}
		g := &s.dag
		g.ops = g.ops.Fill(mb.Insts)
		findEdges(f, mb.Insts, s, false, g)
		d := newSethiUllman(g)
		for i := range g.insts {
			if in := &g.insts[i]; in.Op.Class() == mir.Load && in.Space != ir.Shared {
				d.visit(int32(i))
			}
		}
		for i := range g.insts {
			if !d.done[i] {
				d.done[i] = true
				d.out = append(d.out, int32(i))
			}
		}
		mb.Insts = mir.Arrange(mb.Insts, d.out)
	}
}
