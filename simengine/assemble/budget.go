package assemble

// spillRounds bounds how often spilling is repeated for what it adds itself.
const spillRounds = 12

// assign orders the instructions, gives values registers and, when those of
// the budget do not suffice, moves values to local memory.
func (f *fn) assign() error {
	own := f.budget - f.t.reserved - 1
	f.fit(own, f.own)
	if f.fits() || f.cap == 0 && f.budget < maxRegisters {
		return nil
	}
	source, values := f.blockInsts(), len(f.vals)
	if done, err := f.spillWords(own); done || err != nil {
		return err
	}
	for b := range source {
		f.mblocks[b].insts = source[b]
	}
	f.vals, f.spills = f.vals[:values], spillState{}
	if err := f.findLiveness(); err != nil {
		return err
	}
	return f.spillValues(own)
}

// fits says whether the registers given keep within the budget.
func (f *fn) fits() bool { return f.general+f.t.reserved <= f.budget }

// spillWords spills word by word, at the points where there are too many, and
// says whether what is left found registers, if need be with a few to spare.
// Vectors leave holes when their words come and go, so that it does not always.
func (f *fn) spillWords(own int) (bool, error) {
	source, values := f.blockInsts(), len(f.vals)
	for _, spare := range [...]int{0, 2, 4, 6} {
		for b := range source {
			f.mblocks[b].insts = source[b]
		}
		f.vals, f.spills = f.vals[:values], spillState{}
		f.spillTo(max(own-spare, leastRegisters))
		if err := f.findLiveness(); err != nil {
			return false, err
		}
		f.splitWebs()
		if err := f.findLiveness(); err != nil {
			return false, err
		}
		if f.regs, f.general = f.layout(nil).allocate(f.budget-f.t.reserved, true); f.fits() {
			f.fit(own, &ordering{})
			return f.fits(), nil
		}
	}
	return false, nil
}

// leastRegisters is what spilling leaves at least: an instruction reads three
// pairs and writes a vector of four.
const leastRegisters = 10

// spillValues spills whole values, a store after every write and a load before
// every read, until the rest finds registers.
func (f *fn) spillValues(own int) error {
	more := 1 // registers to free where values found none, twice as many each time
	for round := 0; ; round++ {
		f.fit(own, &ordering{})
		if f.fits() || round == spillRounds {
			return nil
		}
		if !f.spillAt(f.crowds(own)) {
			if !f.spillAt(f.unplaced(f.budget-f.t.reserved, more)) {
				return nil
			}
			more *= 2
		}
		if err := f.findLiveness(); err != nil {
			return err
		}
	}
}

// blockInsts lists the instructions of every block.
func (f *fn) blockInsts() [][]inst {
	out := make([][]inst, len(f.mblocks))
	for b := range f.mblocks {
		out[b] = f.mblocks[b].insts
	}
	return out
}

// ordering is what is known of the orders of a program's blocks.
type ordering struct{ dags []*dag }

// fit schedules for fewer and fewer registers until the allocation keeps within the
// budget, starting over from the program's own order each time: up to 36 fewer, since
// fragments of matrices leave large holes. If none does, or that order is too crowded
// already, it is kept. One that overshoots keeps the first.
func (f *fn) fit(own int, o *ordering) {
	limit := f.budget - f.t.reserved
	var l *layout
	if f.cap == 0 || f.pressure() <= own {
		s := f.newScratch()
		if o.dags == nil {
			o.dags = f.dags(s)
		}
		dags := o.dags
		l = f.layout(dags)
		for _, slack := range [...]int{0, 1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 36} {
			if slack == overshootSlack && f.cap == 0 {
				if f.schedule(own, l, dags, s); f.overshoots(l, dags, s) {
					f.regs, f.general = l.allocate(limit, false)
					l.arrange()
					return
				}
			}
			if !f.schedule(own-slack, l, dags, s) && slack > 0 {
				continue // the order that found no registers
			}
			if f.regs, f.general = l.allocate(limit, true); f.general <= limit {
				l.arrange()
				return
			}
		}
		l.reset()
	} else {
		l = f.layout(nil)
	}
	f.regs, f.general = l.allocate(limit, false)
}

// need is the number of registers a thread is charged when the program keeps
// its own order. Without a cap, parameters used in outer loops count as if they
// were kept across the inner ones: the real assembler reads them anew, as this
// one does, yet chooses among the occupancy steps as if it did not (sgemm on
// sm_90: with them 79 % of register counts are exact, without them 72 %).
func (f *fn) need() int {
	n := f.peak + 1 + f.t.reserved
	if f.cap == 0 {
		n += f.spared
	}
	return n
}
