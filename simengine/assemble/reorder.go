package assemble

import (
	"github.com/warptune/warptune/simengine/assemble/rules"
	"github.com/warptune/warptune/simengine/assemble/sched"
)

// Orders for few registers, before scheduling, and the need of registers that follows.

// fewestRegisters gives every block the order that needs the fewest registers.
func (u *unit) fewestRegisters() error {
	u.noteReordered(sched.FewestRegisters(u.mir, u.scratch.scheduling.Grow(u.mir)))
	return nil
}

// byPressureList tries the top-down pressure order on every block.
func (u *unit) byPressureList() {
	u.noteReordered(sched.ByPressureList(u.mir, u.scratch.scheduling.Grow(u.mir)))
}

// byVectorLoad tries to use up one vector load after the other in every block.
func (u *unit) byVectorLoad() {
	u.noteReordered(sched.ByVectorLoad(u.mir, u.scratch.scheduling.Grow(u.mir)))
}

// noteReordered updates what depends on the order of the blocks.
func (u *unit) noteReordered(changed bool) {
	if changed {
		u.orders = &sched.Orders{} // the old ones are of another order
	}
	u.peak = u.mir.Needed()
}

// need is the registers that a thread is charged if the program keeps its order. Without a cap,
// parameters used in outer loops count as if they were kept across the inner ones: ptxas loads them
// again, as is done here, but chooses its occupancy step as if it did not.
//
// Evidence, ptxas corpus (sgemm, sm_90): 79 % of register counts are exact so, and 72 % otherwise.
func (u *unit) need() int {
	n := u.peak + 1 + u.mir.Target.Reserved
	if t := u.mir.Target; u.cap == 0 && t.Uses(rules.HoistedParameters) && !t.Specific {
		n += u.mir.HoistedParams
	}
	return n
}

// productNeed is the need of the blocks that have products: only beside these do registers go to more loads in
// flight.
func (u *unit) productNeed() int {
	f := u.mir
	return 1 + f.Target.Reserved + f.NeededIn(func(b int) bool { return sched.HasProduct(f.Blocks[b].Insts) })
}
