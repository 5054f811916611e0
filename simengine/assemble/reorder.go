package assemble

// frugal puts every block without products of matrices (see loadFirst) into the order that
// needs the fewest registers of three: the program's own, results computed just before what reads them, and,
// where those two cost occupancy, values used up by all that read them before the next.
func (f *mfn) frugal(s *scratch) (changed bool) {
	f.loadFirst(s)
	byDemand := f.reorder(s, 0, func(_ int, g *dag, _ []uint8) []int32 { return demandOrder(g) })
	byUse := f.reorder(s, f.t.steps[0]-f.t.reserved-1, func(_ int, g *dag, counted []uint8) []int32 { return closingOrder(g, counted) })
	return byDemand || byUse
}

// reorder puts every block that needs more than some registers, half of them for
// what comes and goes inside it, into an order if it needs fewer than the block's own.
func (f *mfn) reorder(s *scratch, above int, by orderBy) (changed bool) {
	for _, b := range f.order {
		mb := &f.blocks[b]
		if len(mb.insts) < 3 || multiplies(mb.insts) {
			continue
		}
		if order := f.cheaper(b, s, above, by); order != nil {
			mb.insts = arrange(mb.insts, order)
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
func (f *mfn) cheaper(b int, s *scratch, above int, by orderBy) []int32 {
	insts := f.blocks[b].insts
	g, bounds := &s.dag, f.boundsOf(b, s)
	g.ops = g.ops.fill(insts)
	out, least := bounds.out, max(bounds.in, bounds.out)
	constants := f.crowdedConstants(b)
	counted := constants.among(s.general)
	own := f.orderPressure(b, &g.ops, nil, out, counted, s)
	if own <= max(above, least) || above > 0 && own-least <= above/2 {
		return nil // no order makes do without what is live at the bounds
	}
	f.findEdges(insts, s, false, g)
	order := by(b, g, counted)
	if f.orderPressure(b, &g.ops, order, out, counted, s) >= own || !f.holds(constants, b, g, order, s) {
		return nil
	}
	return order
}
