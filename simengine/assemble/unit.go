package assemble

import "fmt"

// unit is a kernel on its way through the passes: first only as PTX instructions, then
// as machine instructions too.
type unit struct {
	h       *hfn
	m       *mfn
	work    *workspace // shared by all units of a kernel
	reduce  int        // instructions to repeat at most rather than keep a value, 0 none
	cap     int        // registers a thread may use, 0 no cap
	budget  int        // registers a thread may be charged: the cap or an occupancy step
	peak    int        // general registers live at most, in the order that the blocks have
	own     *ordering  // of the instructions as selected
	program *Program
}

// workspace is memory that passes reuse.
type workspace struct {
	selecting  selectScratch
	scheduling scratch
	allocating allocScratch
}

// runPasses runs passes in order.
func (u *unit) runPasses(passes []pass) error {
	for _, p := range passes {
		if err := p.run(u); err != nil {
			return fmt.Errorf("assemble %s: %s: %w", u.h.k.Name, p.name, err)
		}
		if u.h.check {
			if err := p.verify(u); err != nil {
				return fmt.Errorf("assemble %s: after %s: %w", u.h.k.Name, p.name, err)
			}
		}
	}
	return nil
}

// selected is a kernel with instructions selected, which trades up to reduce instructions
// for a register.
func (u *unit) selected(reduce int) (*unit, error) {
	v := &unit{h: u.h.clone(), work: u.work, reduce: reduce, own: &ordering{}}
	return v, v.runPasses(selection)
}
