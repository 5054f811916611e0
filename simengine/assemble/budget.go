package assemble

// assign schedules, allocates and, when registers do not suffice, spills.
// Without a cap the budget is the step of the occupancy ladder just above what
// the program needs in its own order; with one it is the cap.
func (f *fn) assign() error {
	if err := f.findLiveness(); err != nil {
		return err
	}
	limit := f.cap
	if limit == 0 {
		limit = f.occupancyBudget()
	}
	own := limit - f.t.reserved - 1
	source := make([][]inst, len(f.mblocks))
	for b := range f.mblocks {
		source[b] = f.mblocks[b].insts
	}
	for budget := own; ; budget -= 1 {
		for b := range f.mblocks {
			f.mblocks[b].insts = source[b]
		}
		if err := f.schedule(budget); err != nil {
			return err
		}
		regs, general := f.allocate()
		f.regs, f.general = regs, general
		if general+f.t.reserved <= limit || budget <= own-6 {
			break
		}
	}
	return nil
}

// occupancyBudget picks the register limit of a kernel without a cap: enough
// for its own order, rounded up to where occupancy falls anyway.
func (f *fn) occupancyBudget() int {
	need := f.pressure() + 1 + f.t.reserved
	for _, s := range f.t.steps {
		if need <= s {
			return s
		}
	}
	return maxRegisters
}
