package assemble

import (
	"fmt"

	"github.com/warptune/warptune/simengine/assemble/hir"
	"github.com/warptune/warptune/simengine/assemble/hir/opt"
	"github.com/warptune/warptune/simengine/assemble/isel"
	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/assemble/regalloc"
	"github.com/warptune/warptune/simengine/assemble/sched"
)

// unit is a kernel on its way through the passes: after the front end as PTX instructions, after
// selection as machine instructions.
type unit struct {
	hir      *hir.Func
	mir      *mir.Func
	scratch  *Workspace    // shared by all units of a kernel
	serial   bool          // warpgroup MMAs are made one after the other
	remat    int           // instructions to repeat at most rather than keep a value, 0 none
	same     opt.Limits    // instead of remat, that come to the same
	cap      int           // registers a thread may have, 0 no cap
	budget   int           // registers a thread may be charged: the cap or an occupancy step
	launched int           // registers at launch where the kernel changes their number, else 0
	shares   bool          // live values share registers (shareRegisters)
	asked    bool          // only whether it spills beside products: allocation ends with errSpills as soon as that is known
	peak     int           // general registers live at most, in the present order
	orders   *sched.Orders // of the present order
	program  *Program
}

// Workspace is storage that passes reuse, of one kernel after another. The zero value is ready. It is for one goroutine
// at a time.
type Workspace struct {
	selecting  isel.Scratch
	scheduling sched.Scratch
	allocating regalloc.Scratch
}

// runPasses runs passes in order, with their checks if these are on.
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

// serialise makes products one after the other, if they are to be.
func (u *unit) serialise() {
	if u.serial {
		opt.SerialiseProducts(u.hir)
	}
}

// selected returns the kernel with instructions selected and values of up to remat instructions
// rematerialised. With serial, warpgroup MMAs are made one after the other.
func (u *unit) selected(remat int, serial bool) (*unit, error) {
	v := &unit{hir: u.hir.Clone(), scratch: u.scratch, remat: remat, serial: serial, orders: &sched.Orders{}}
	v.hir.Scarce = remat > 0
	return v, v.runPasses(selection)
}
