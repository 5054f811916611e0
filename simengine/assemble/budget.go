package assemble

// assign schedules, allocates and, when registers do not suffice, spills.
// Without a cap the budget is the step of the occupancy ladder just above what
// the program needs in its own order; with one it is the cap.
func (f *fn) assign() error {
	limit := f.budget
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
		regs, general := f.allocate(limit - f.t.reserved)
		f.regs, f.general = regs, general
		if general+f.t.reserved <= limit || budget <= own-6 {
			break
		}
	}
	return nil
}

// need is the number of registers a thread is charged when the program keeps
// its own order.
func (f *fn) need() int { return f.pressure() + 1 + f.t.reserved }
