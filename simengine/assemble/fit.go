package assemble

import (
	"errors"
	"slices"

	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/assemble/regalloc"
	"github.com/warptune/warptune/simengine/assemble/rules"
	"github.com/warptune/warptune/simengine/assemble/sched"
	"github.com/warptune/warptune/simengine/assemble/target"
	"github.com/warptune/warptune/simengine/assemble/vreg"
)

// Scheduling and register allocation within a budget.
//
// A schedule that keeps within the budget of live registers may still find no registers, since
// vectors need aligned groups. So both are tried together, for fewer and fewer live registers. If
// none fits, words are spilled (regalloc/belady.go), and if their holes fit no vectors, whole
// values (regalloc/spill.go).

// spillRounds bounds how often whole values are spilled, which adds values of its own.
const spillRounds = 12

// allocate orders the program, gives values registers and spills what finds none.
func (u *unit) allocate() error {
	own := u.budget - u.mir.Target.Reserved - 1
	u.fit(own, u.orders)
	if u.fits() || u.cap == 0 && u.budget < target.MaxRegisters && u.mir.General+u.mir.Target.Reserved <= target.MaxRegisters {
		return nil
	}
	if u.cap == 0 {
		u.budget = target.MaxRegisters
		own = u.budget - u.mir.Target.Reserved - 1
	}
	source, values, spills := blockInsts(u.mir), len(u.mir.Values), mir.SpillState{}
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
	if err := u.spillValues(own); err != nil || u.fits() {
		return err
	}
	for {
		for b := range source {
			u.mir.Blocks[b].Insts = source[b]
		}
		u.mir.Values, u.mir.Spills = u.mir.Values[:values], spills
		if err := u.mir.FindLiveness(); err != nil {
			return err
		}
		if !regalloc.ShareGroups(u.mir) {
			return u.shareRegisters(own)
		}
		source, spills = blockInsts(u.mir), u.mir.Spills
		if err := u.mir.FindLiveness(); err != nil {
			return err
		}
		if done, err := u.spillWords(own); done || err != nil {
			return err
		}
	}
}

// shareRegisters spills words until no more are live than there are registers. Values for which the holes between
// accumulators are too small then share registers with others. ptxas moves accumulators out of the way instead, which
// is not modelled. So the moves are missing, and an instruction may wait for another that it does not depend on.
func (u *unit) shareRegisters(own int) error {
	regalloc.SpillTo(u.mir, regalloc.FindUses(u.mir), max(own, leastRegisters))
	if err := u.mir.FindLiveness(); err != nil {
		return err
	}
	limit := u.budget - u.mir.Target.Reserved
	u.mir.Regs, u.mir.General = regalloc.New(u.mir, u.mir.Layout(nil), &u.scratch.allocating).Allocate(limit, false)
	whole := int16(limit &^ (vreg.MaxWords - 1)) // a multiple of what values are aligned to
	for v, r := range u.mir.Regs {
		if u.mir.Values[v].File == vreg.General && int(r)+int(u.mir.Values[v].Words) > limit {
			u.mir.Regs[v] = r % whole
		}
	}
	u.mir.General, u.shares = min(u.mir.General, limit), true
	return nil
}

// verifyRegisters checks that values that are live at the same time do not share a register, unless they have to.
func (u *unit) verifyRegisters() error {
	if u.shares {
		return nil
	}
	return regalloc.VerifyRegisters(u.mir, &u.scratch.allocating)
}

// fits reports whether the registers given keep within the budget.
func (u *unit) fits() bool { return u.mir.General+u.mir.Target.Reserved <= u.budget }

// errSpills says that a program spills beside its products, to whoever asked only that.
var errSpills = errors.New("it spills beside its products")

// spillsBesideProducts reports whether a block with warpgroup MMAs stores or loads registers for want of others. What an
// epilogue spills is nothing to the products before it.
func (u *unit) spillsBesideProducts() bool {
	if u.mir.Spills.Bytes == 0 {
		return false
	}
	for b := range u.mir.Blocks {
		insts := u.mir.Blocks[b].Insts
		if slices.ContainsFunc(insts, func(in mir.Inst) bool { return in.Op == mir.OpHGMMA }) && slices.ContainsFunc(insts, func(in mir.Inst) bool { return in.SpillSlot >= 0 }) {
			return true
		}
	}
	return false
}

// spillWords spills words and reports whether the rest found registers, if need be with a few to
// spare.
func (u *unit) spillWords(own int) (bool, error) {
	source, values, uses, spills := blockInsts(u.mir), len(u.mir.Values), regalloc.FindUses(u.mir), u.mir.Spills
	for _, spare := range u.spares() {
		for b := range source {
			u.mir.Blocks[b].Insts = source[b]
		}
		u.mir.Values, u.mir.Spills = u.mir.Values[:values], spills
		regalloc.SpillTo(u.mir, uses, max(own-spare, leastRegisters))
		if u.asked && !u.mayOverrun() && u.spillsBesideProducts() { // another order is taken only if it fits, too
			return false, errSpills
		}
		if err := u.mir.FindLiveness(); err != nil {
			return false, err
		}
		if u.mir.Target.Specific {
			regalloc.SplitStored(u.mir)
			if err := u.mir.FindLiveness(); err != nil {
				return false, err
			}
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

// spares are the registers to spare with which spilling of words is tried in turn. Accumulators and
// fragments of MMA leave large holes.
func (u *unit) spares() []int {
	if u.mir.Target.Specific {
		return []int{0, 2, 4, 8, 16, 24, 32, 48, 64}
	}
	return []int{0, 2, 4, 6}
}

// leastRegisters is what spilling keeps at least: an instruction reads three pairs and writes a
// vector of four.
const leastRegisters = 10

// spillValues spills whole values until the rest finds registers. It gives up where more registers are live than before:
// an instruction with many operands, such as a product with its accumulators, then needs them beside their copies.
func (u *unit) spillValues(own int) error {
	more := 1 // registers to free where values found none; doubled each time
	live := u.mir.Pressure()
	for round := 0; ; round++ {
		before := live
		if live = u.mir.Pressure(); live > max(before, own) {
			return nil
		}
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

// blockInsts returns the instructions of every block.
func blockInsts(f *mir.Func) [][]mir.Inst {
	out := make([][]mir.Inst, len(f.Blocks))
	for b := range f.Blocks {
		out[b] = f.Blocks[b].Insts
	}
	return out
}

// mayOverrun reports whether a program may take more registers than its budget.
func (u *unit) mayOverrun() bool {
	t := u.mir.Target
	return u.cap == 0 && t.Uses(rules.OccupancyOverrun) && !(t.Specific && u.budget == target.MaxRegisters)
}

// fit schedules for own live registers, then for fewer, until allocation keeps within the budget,
// each time from the order that the program has. Up to 36 fewer are tried, since MMA fragments
// leave large holes. If none fits, the program keeps its order. A program that overruns its
// occupancy step (sched.OverrunsOccupancy) keeps the first schedule.
func (u *unit) fit(own int, o *sched.Orders) {
	f, limit := u.mir, u.budget-u.mir.Target.Reserved
	if u.cap != 0 && f.Pressure() > own {
		allocateOwn(f, regalloc.New(f, f.Layout(nil), &u.scratch.allocating), limit)
		return
	}
	s := u.scratch.scheduling.Grow(f)
	if o.Graphs == nil {
		o.Graphs = sched.DAGs(f, s)
	}
	dags := o.Graphs
	l := f.Layout(o.Operands())
	a := regalloc.New(f, l, &u.scratch.allocating)
	most := own
	if f.Spills.Bytes > 0 {
		most = 0 // what is spilled is for its own order
	}
	for _, slack := range [...]int{0, 1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 36} {
		if slack == sched.OverrunSlack && u.mayOverrun() {
			if sched.Schedule(f, own, own, l, dags, s); sched.OverrunsOccupancy(f, l, dags, s) {
				f.Regs, f.General = a.Allocate(limit, false)
				l.Arrange()
				return
			}
		}
		if !sched.Schedule(f, own-slack, most, l, dags, s) && slack > 0 {
			continue // the same order as before, which found no registers
		}
		if f.Regs, f.General = a.Allocate(limit, true); f.General <= limit {
			if slack > 0 {
				rotateRegs(f, a)
			}
			l.Arrange()
			return
		}
	}
	l.Reset()
	allocateOwn(f, a, limit)
}

// allocateOwn gives registers to a program in its own order, whether they keep within the limit or not.
func allocateOwn(f *mir.Func, a *regalloc.Allocator, limit int) {
	f.Regs, f.General = a.Allocate(limit, false)
	rotateRegs(f, a)
}

// rotateRegs gives values other registers, of as many as they have: one after the other in turn, so that
// instructions can still move once registers are allocated. It is for PTX for one architecture, where
// an order for few registers is all that found any.
//
// Evidence, H100 (gated_scan with 32x32 elements a CTA and three stages, 64 registers a thread): chains
// of shuffles are predicted to take 2.3 times the measured time with it, and 3.2 times without.
func rotateRegs(f *mir.Func, a *regalloc.Allocator) {
	if !f.Target.Specific {
		return
	}
	if regs := a.Rotated(f.General); regs != nil {
		f.Regs = regs
	}
}
