package sched

import (
	"slices"

	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/assemble/rules"
	"github.com/warptune/warptune/simengine/ir"
)

// Blocks with MMA instructions.
//
// They keep the program's order, with their loads from global memory first. ptxas keeps as many
// loads of fragments in flight as it has to wait for the first.
//
// Evidence, ptxas corpus (192 programs with MMA for sm_90, 13.0.88): 68 % of register
// counts are within 10 %, and 54 % where such blocks are ordered like others.

// keepsMMA reports whether blocks with MMA instructions keep the program's order. Those of PTX for one
// architecture do not: compilers load all fragments of a tile there before its first MMA.
//
// Evidence, ptxas corpus (88 shared launches with MMA, sm_90a): 47 register counts are within 10 % if
// such blocks are ordered like others, and 30 if they keep their order.
func keepsMMA(f *mir.Func) bool { return f.Target.Uses(rules.MMAOrder) && !f.Target.Specific }

// hasMMA reports whether a block has MMA instructions.
func hasMMA(insts []mir.Inst) bool {
	return slices.ContainsFunc(insts, func(in mir.Inst) bool { return IsMMA(in.Op) })
}

// IsMMA reports whether an operation is an MMA of a warp.
func IsMMA(op mir.Op) bool {
	switch op.Class() {
	case mir.Tensor, mir.TensorShort, mir.TensorSingle, mir.TensorSingleShort, mir.TensorDouble:
		return true
	}
	return false
}

// HasProduct reports whether a block has products of warps or warpgroups.
func HasProduct(insts []mir.Inst) bool {
	return slices.ContainsFunc(insts, func(in mir.Inst) bool { return in.Op.Class() == mir.Wgmma || IsMMA(in.Op) })
}

// globalLoadsFirst moves loads from global memory, with what they depend on, to the start of blocks
// with MMA instructions.
func globalLoadsFirst(f *mir.Func, s *Scratch) {
	if !keepsMMA(f) {
		return
	}
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

// byProduct gives blocks with MMA instructions their product order. It reports whether there are any.
//
// Evidence, ptxas corpus (80 shared launches with MMA, sm_90a): the median number of MMAs from one to the next of the
// same accumulators is right within a third for all but eight of them. That holds where registers are short, too. If
// each block had the order that needs the fewest registers, it would be 1 instead of 13 to 16 for eight.
func byProduct(f *mir.Func, s *Scratch) (changed bool) {
	if !f.Target.Specific {
		return false
	}
	for _, b := range f.Order {
		mb := &f.Blocks[b]
		if len(mb.Insts) < 3 || !hasMMA(mb.Insts) {
			continue
		}
		g := &s.dag
		g.ops = g.ops.Fill(mb.Insts)
		findEdges(f, mb.Insts, s, false, g)
		mb.Insts = mir.Arrange(mb.Insts, productOrder(f, b, g, s))
		changed = true
	}
	return changed
}

// productOrder returns the instructions of a block in Sethi-Ullman order with every MMA for a root:
// these keep their order, and each fragment is loaded right before its first MMA.
//
// Evidence, ptxas corpus (shared launches of mm_grouped with MMA, sm_90a): the MMAs of all results for
// one step of K follow each other, as in the PTX, with the loads for the next step among them.
func productOrder(f *mir.Func, b int, g *dag, s *Scratch) []int32 {
	return rootOrder(f, b, g, s, func(i int32) bool { return IsMMA(g.insts[i].Op) || !hasReader(g, i) })
}
