package assemble

// spillRounds bounds how often spilling is repeated for what it adds itself.
const spillRounds = 12

// assign orders the instructions, gives values registers and, when those of
// the budget do not suffice, moves values to local memory.
func (u *unit) assign() error {
	own := u.budget - u.m.t.reserved - 1
	u.fit(own, u.own)
	if u.fits() || u.cap == 0 && u.budget < maxRegisters {
		return nil
	}
	source, values := u.m.blockInsts(), len(u.m.vals)
	if done, err := u.spillWords(own); done || err != nil {
		return err
	}
	for b := range source {
		u.m.blocks[b].insts = source[b]
	}
	u.m.vals, u.m.spills = u.m.vals[:values], spillState{}
	if err := u.m.findLiveness(); err != nil {
		return err
	}
	return u.spillValues(own)
}

// fits says whether the registers given keep within the budget.
func (u *unit) fits() bool { return u.m.general+u.m.t.reserved <= u.budget }

// spillWords spills word by word, at the points where there are too many, and
// says whether what is left found registers, if need be with a few to spare.
// Vectors leave holes when their words come and go, so that it does not always.
func (u *unit) spillWords(own int) (bool, error) {
	source, values := u.m.blockInsts(), len(u.m.vals)
	for _, spare := range [...]int{0, 2, 4, 6} {
		for b := range source {
			u.m.blocks[b].insts = source[b]
		}
		u.m.vals, u.m.spills = u.m.vals[:values], spillState{}
		u.m.spillTo(max(own-spare, leastRegisters))
		if err := u.m.findLiveness(); err != nil {
			return false, err
		}
		u.m.splitWebs()
		if err := u.m.findLiveness(); err != nil {
			return false, err
		}
		if u.m.regs, u.m.general = newAllocator(u.m, u.m.layout(nil), &u.work.allocating).allocate(u.budget-u.m.t.reserved, true); u.fits() {
			u.fit(own, &ordering{})
			return u.fits(), nil
		}
	}
	return false, nil
}

// leastRegisters is what spilling leaves at least: an instruction reads three
// pairs and writes a vector of four.
const leastRegisters = 10

// spillValues spills whole values, a store after every write and a load before
// every read, until the rest finds registers.
func (u *unit) spillValues(own int) error {
	more := 1 // registers to free where values found none, twice as many each time
	for round := 0; ; round++ {
		u.fit(own, &ordering{})
		if u.fits() || round == spillRounds {
			return nil
		}
		if !u.m.spillAt(u.m.crowds(own)) {
			if !u.m.spillAt(u.m.unplaced(u.budget-u.m.t.reserved, more, &u.work.allocating)) {
				return nil
			}
			more *= 2
		}
		if err := u.m.findLiveness(); err != nil {
			return err
		}
	}
}

// blockInsts lists the instructions of every block.
func (f *mfn) blockInsts() [][]inst {
	out := make([][]inst, len(f.blocks))
	for b := range f.blocks {
		out[b] = f.blocks[b].insts
	}
	return out
}

// fit schedules for fewer and fewer registers until the allocation keeps within the
// budget, starting over from the program's own order each time: up to 36 fewer, since
// fragments of matrices leave large holes. If none does, or that order is too crowded
// already, it is kept. One that overshoots keeps the first.
func (u *unit) fit(own int, o *ordering) {
	f, limit := u.m, u.budget-u.m.t.reserved
	if u.cap != 0 && f.pressure() > own {
		f.regs, f.general = newAllocator(f, f.layout(nil), &u.work.allocating).allocate(limit, false)
		return
	}
	s := u.work.scheduling.grow(f)
	if o.dags == nil {
		o.dags = f.dags(s)
	}
	dags := o.dags
	l := f.layout(o.operands())
	a := newAllocator(f, l, &u.work.allocating)
	for _, slack := range [...]int{0, 1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 36} {
		if slack == overshootSlack && u.cap == 0 {
			if f.schedule(own, l, dags, s); f.overshoots(l, dags, s) {
				f.regs, f.general = a.allocate(limit, false)
				l.arrange()
				return
			}
		}
		if !f.schedule(own-slack, l, dags, s) && slack > 0 {
			continue // the order that found no registers
		}
		if f.regs, f.general = a.allocate(limit, true); f.general <= limit {
			l.arrange()
			return
		}
	}
	l.reset()
	f.regs, f.general = a.allocate(limit, false)
}

// frugal puts every block into the order that needs the fewest registers.
func (u *unit) frugal() error {
	u.reordered(u.m.frugal(u.work.scheduling.grow(u.m)))
	return nil
}

// economise puts blocks into the order by thrift.
func (u *unit) economise() { u.reordered(u.m.economise(u.work.scheduling.grow(u.m))) }

// tighten puts blocks into an order for a cap.
func (u *unit) tighten() { u.reordered(u.m.tighten(u.work.scheduling.grow(u.m))) }

// reordered takes note of another order of the blocks.
func (u *unit) reordered(changed bool) {
	if changed {
		u.own = &ordering{} // what was known is of another order
	}
	u.peak = u.m.pressure()
}

// need is the number of registers a thread is charged when the program keeps
// its own order. Without a cap, parameters used in outer loops count as if they
// were kept across the inner ones: the real assembler reads them anew, as this
// one does, yet chooses among the occupancy steps as if it did not (sgemm on
// sm_90: with them 79 % of register counts are exact, without them 72 %).
func (u *unit) need() int {
	n := u.peak + 1 + u.m.t.reserved
	if u.cap == 0 {
		n += u.m.spared
	}
	return n
}
