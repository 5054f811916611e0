package sched

import (
	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/assemble/rules"
)

// FewestRegisters gives every block the order that needs the fewest registers of three: its own,
// the Sethi-Ullman order and, where these two cost occupancy, the bottom-up order. Blocks with MMA
// instructions have an order of their own (see mma.go). It reports whether any block was reordered.
func FewestRegisters(f *mir.Func, s *Scratch) (changed bool) {
	globalLoadsFirst(f, s)
	byProduct := byProduct(f, s)
	byDemand := reorder(f, s, 0, func(b int, g *dag, _ []uint8) []int32 { return sethiUllmanOrder(f, b, g, s) })
	byUse := f.Target.Uses(rules.BottomUpOrder) && reorder(f, s, f.Target.Steps[0]-f.Target.Reserved-1, func(_ int, g *dag, counted []uint8) []int32 { return bottomUpOrder(g, counted, s) })
	return byProduct || byDemand || byUse
}

// reorder gives every block an order if that needs fewer registers than the block's own. Blocks are
// left alone that need no more than above registers, or of whose registers less than half of above
// are live only inside the block. It reports whether any block was reordered.
func reorder(f *mir.Func, s *Scratch, above int, by orderBy) (changed bool) {
	for _, b := range f.Order {
		mb := &f.Blocks[b]
		if len(mb.Insts) < 3 || f.Target.Uses(rules.MMAOrder) && hasMMA(mb.Insts) {
			continue
		}
		if order := cheaper(f, b, s, above, by); order != nil {
			mb.Insts = mir.Arrange(mb.Insts, order)
			changed = true
		}
	}
	return changed
}

// orderBy returns an order of a block for few registers. counted says, by value, which words take
// one.
type orderBy func(b int, g *dag, counted []uint8) []int32

// cheaper returns an order of block b if it needs fewer registers than the block's own, else nil.
func cheaper(f *mir.Func, b int, s *Scratch, above int, by orderBy) []int32 {
	insts := f.Blocks[b].Insts
	g, bounds := &s.dag, boundsOf(f, b, s)
	g.ops = g.ops.Fill(insts)
	out, least := bounds.out, max(bounds.in, bounds.out)
	constants := excessConstants(f, b)
	counted := constants.countedWith(s.general)
	own := orderPressure(f, b, &g.ops, nil, out, counted, s)
	if own <= max(above, least) || above > 0 && own-least <= above/2 {
		return nil // no order needs less than what is live at the start and the end
	}
	findEdges(f, insts, s, false, g)
	keepArms(f, g)
	order := by(b, g, counted)
	if orderPressure(f, b, &g.ops, order, out, counted, s) >= own || !fitsUniform(f, constants, b, g, order, s) {
		return nil
	}
	return order
}
