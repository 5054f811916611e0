package sched

import (
	"github.com/warptune/warptune/simengine/assemble/mir"
)

// FewestRegisters puts every block without products of matrices (see loadFirst) into the order that
// needs the fewest registers of three: the program's own, results computed just before what reads them, and,
// where those two cost occupancy, values used up by all that read them before the next.
func FewestRegisters(f *mir.Func, s *Scratch) (changed bool) {
	globalLoadsFirst(f, s)
	byDemand := reorder(f, s, 0, func(_ int, g *dag, _ []uint8) []int32 { return sethiUllmanOrder(g) })
	byUse := reorder(f, s, f.Target.Steps[0]-f.Target.Reserved-1, func(_ int, g *dag, counted []uint8) []int32 { return bottomUpOrder(g, counted) })
	return byDemand || byUse
}

// reorder puts every block that needs more than some registers, half of them for
// what comes and goes inside it, into an order if it needs fewer than the block's own.
func reorder(f *mir.Func, s *Scratch, above int, by orderBy) (changed bool) {
	for _, b := range f.Order {
		mb := &f.Blocks[b]
		if len(mb.Insts) < 3 || hasMMA(mb.Insts) {
			continue
		}
		if order := cheaper(f, b, s, above, by); order != nil {
			mb.Insts = mir.Arrange(mb.Insts, order)
			changed = true
		}
	}
	return changed
}

// orderBy orders the instructions of a block for few registers; counted is by value the words
// that take one.
type orderBy func(b int, g *dag, counted []uint8) []int32

// cheaper returns an order of a block if it needs fewer registers than the block's own,
// else nil.
func cheaper(f *mir.Func, b int, s *Scratch, above int, by orderBy) []int32 {
	insts := f.Blocks[b].Insts
	g, bounds := &s.dag, boundsOf(f, b, s)
	g.ops = g.ops.Fill(insts)
	out, least := bounds.out, max(bounds.in, bounds.out)
	constants := excessConstants(f, b)
	counted := constants.countedWith(s.general)
	own := orderPressure(f, b, &g.ops, nil, out, counted, s)
	if own <= max(above, least) || above > 0 && own-least <= above/2 {
		return nil // no order makes do without what is live at the bounds
	}
	findEdges(f, insts, s, false, g)
	order := by(b, g, counted)
	if orderPressure(f, b, &g.ops, order, out, counted, s) >= own || !fitsUniform(f, constants, b, g, order, s) {
		return nil
	}
	return order
}
