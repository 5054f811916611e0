package assemble

import (
	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/assemble/regalloc"
	"github.com/warptune/warptune/simengine/assemble/sched"
	"github.com/warptune/warptune/simengine/assemble/target"
)

// spillRounds bounds how often spilling is repeated for what it adds itself.
const spillRounds = 12

// assign orders the instructions, gives values registers and, when those of
// the budget do not suffice, moves values to local memory.
func (u *unit) assign() error {
	own := u.budget - u.mir.Target.Reserved - 1
	u.fit(own, u.orders)
	if u.fits() || u.cap == 0 && u.budget < target.MaxRegisters {
		return nil
	}
	source, values := blockInsts(u.mir), len(u.mir.Values)
	if done, err := u.spillWords(own); done || err != nil {
		return err
	}
	for b := range source {
		u.mir.Blocks[b].Insts = source[b]
	}
	u.mir.Values, u.mir.Spills = u.mir.Values[:values], mir.SpillState{}
	if err := u.mir.FindLiveness(); err != nil {
		return err
	}
	return u.spillValues(own)
}

// fits says whether the registers given keep within the budget.
func (u *unit) fits() bool { return u.mir.General+u.mir.Target.Reserved <= u.budget }

// spillWords spills word by word, at the points where there are too many, and
// says whether what is left found registers, if need be with a few to spare.
// Vectors leave holes when their words come and go, so that it does not always.
func (u *unit) spillWords(own int) (bool, error) {
	source, values := blockInsts(u.mir), len(u.mir.Values)
	for _, spare := range [...]int{0, 2, 4, 6} {
		for b := range source {
			u.mir.Blocks[b].Insts = source[b]
		}
		u.mir.Values, u.mir.Spills = u.mir.Values[:values], mir.SpillState{}
		regalloc.SpillTo(u.mir, max(own-spare, leastRegisters))
		if err := u.mir.FindLiveness(); err != nil {
			return false, err
		}
		regalloc.SplitWebs(u.mir)
		if err := u.mir.FindLiveness(); err != nil {
			return false, err
		}
		if u.mir.Regs, u.mir.General = regalloc.New(u.mir, u.mir.Layout(nil), &u.scratch.allocating).Allocate(u.budget-u.mir.Target.Reserved, true); u.fits() {
			u.fit(own, &sched.Orders{})
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
		u.fit(own, &sched.Orders{})
		if u.fits() || round == spillRounds {
			return nil
		}
		if !regalloc.SpillAt(u.mir, regalloc.PressurePoints(u.mir, own)) {
			if !regalloc.SpillAt(u.mir, regalloc.Unplaced(u.mir, u.budget-u.mir.Target.Reserved, more, &u.scratch.allocating)) {
				return nil
			}
			more *= 2
		}
		if err := u.mir.FindLiveness(); err != nil {
			return err
		}
	}
}

// blockInsts lists the instructions of every block.
func blockInsts(f *mir.Func) [][]mir.Inst {
	out := make([][]mir.Inst, len(f.Blocks))
	for b := range f.Blocks {
		out[b] = f.Blocks[b].Insts
	}
	return out
}

// fit schedules for fewer and fewer registers until the allocation keeps within the
// budget, starting over from the program's own order each time: up to 36 fewer, since
// fragments of matrices leave large holes. If none does, or that order is too crowded
// already, it is kept. One that overshoots keeps the first.
func (u *unit) fit(own int, o *sched.Orders) {
	f, limit := u.mir, u.budget-u.mir.Target.Reserved
	if u.cap != 0 && f.Pressure() > own {
		f.Regs, f.General = regalloc.New(f, f.Layout(nil), &u.scratch.allocating).Allocate(limit, false)
		return
	}
	s := u.scratch.scheduling.Grow(f)
	if o.Dags == nil {
		o.Dags = sched.DAGs(f, s)
	}
	dags := o.Dags
	l := f.Layout(o.Operands())
	a := regalloc.New(f, l, &u.scratch.allocating)
	for _, slack := range [...]int{0, 1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 36} {
		if slack == sched.OverrunSlack && u.cap == 0 {
			if sched.Schedule(f, own, l, dags, s); sched.OverrunsOccupancy(f, l, dags, s) {
				f.Regs, f.General = a.Allocate(limit, false)
				l.Arrange()
				return
			}
		}
		if !sched.Schedule(f, own-slack, l, dags, s) && slack > 0 {
			continue // the order that found no registers
		}
		if f.Regs, f.General = a.Allocate(limit, true); f.General <= limit {
			l.Arrange()
			return
		}
	}
	l.Reset()
	f.Regs, f.General = a.Allocate(limit, false)
}

// frugal puts every block into the order that needs the fewest registers.
func (u *unit) frugal() error {
	u.reordered(sched.FewestRegisters(u.mir, u.scratch.scheduling.Grow(u.mir)))
	return nil
}

// economise puts blocks into the order by thrift.
func (u *unit) economise() {
	u.reordered(sched.ByPressureList(u.mir, u.scratch.scheduling.Grow(u.mir)))
}

// tighten puts blocks into an order for a cap.
func (u *unit) tighten() { u.reordered(sched.ByVectorLoad(u.mir, u.scratch.scheduling.Grow(u.mir))) }

// reordered takes note of another order of the blocks.
func (u *unit) reordered(changed bool) {
	if changed {
		u.orders = &sched.Orders{} // what was known is of another order
	}
	u.peak = u.mir.Pressure()
}

// need is the number of registers a thread is charged when the program keeps
// its own order. Without a cap, parameters used in outer loops count as if they
// were kept across the inner ones: the real assembler reads them anew, as this
// one does, yet chooses among the occupancy steps as if it did not (sgemm on
// sm_90: with them 79 % of register counts are exact, without them 72 %).
func (u *unit) need() int {
	n := u.peak + 1 + u.mir.Target.Reserved
	if u.cap == 0 {
		n += u.mir.HoistedParams
	}
	return n
}
