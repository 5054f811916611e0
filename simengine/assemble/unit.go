package assemble

import (
	"fmt"

	"github.com/warptune/warptune/simengine/assemble/hir"
	"github.com/warptune/warptune/simengine/assemble/isel"
	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/assemble/regalloc"
	"github.com/warptune/warptune/simengine/assemble/sched"
)

// unit is a kernel on its way through the passes: first only as PTX instructions, then
// as machine instructions too.
type unit struct {
	hir     *hir.Func
	mir     *mir.Func
	scratch *workspace    // shared by all units of a kernel
	reduce  int           // instructions to repeat at most rather than keep a value, 0 none
	cap     int           // registers a thread may use, 0 no cap
	budget  int           // registers a thread may be charged: the cap or an occupancy step
	peak    int           // general registers live at most, in the order that the blocks have
	orders  *sched.Orders // of the instructions as selected
	program *Program
}

// workspace is memory that passes reuse.
type workspace struct {
	selecting  isel.Scratch
	scheduling sched.Scratch
	allocating regalloc.Scratch
}

// runPasses runs passes in order.
func (u *unit) runPasses(passes []pass) error {
	for _, p := range passes {
		if err := p.run(u); err != nil {
			return fmt.Errorf("assemble %s: %s: %w", u.hir.Kernel.Name, p.name, err)
		}
		if u.hir.Check {
			if err := p.verify(u); err != nil {
				return fmt.Errorf("assemble %s: after %s: %w", u.hir.Kernel.Name, p.name, err)
			}
		}
	}
	return nil
}

// selected is a kernel with instructions selected, which trades up to reduce instructions
// for a register.
func (u *unit) selected(reduce int) (*unit, error) {
	v := &unit{hir: u.hir.Clone(), scratch: u.scratch, reduce: reduce, orders: &sched.Orders{}}
	return v, v.runPasses(selection)
}
