package simengine

import (
	"slices"

	"github.com/warptune/warptune/simengine/exec"
	"github.com/warptune/warptune/simengine/exec/fault"
	"github.com/warptune/warptune/simengine/ir"
)

// harmless reports whether a fault need not fail a configuration: a read out of bounds, whose value
// may not matter, or a race or an uninitialised read of memory that the caller asked to be warned
// of. A write out of bounds destroys something. Threads that race on shared memory are close to each
// other in time.
func harmless(f *fault.Fault) bool {
	switch f.Kind {
	case fault.OutOfBounds:
		return !f.Write
	case fault.Race:
		return f.Space != ir.Shared
	case fault.Uninitialised:
		return true
	}
	return false
}

// harmful returns the first fault that a runner went past and that is not harmless, nil for none.
// Runners go past none unless Check.Warn asks for it.
func harmful(r *exec.Runner) error {
	for _, f := range r.Warnings() {
		if !harmless(&f) {
			return &f
		}
	}
	return nil
}

// warnings adds the faults that runners went past, each once.
func (c *Checked) warnings(runners ...*exec.Runner) {
	for _, r := range runners {
		for _, f := range r.Warnings() {
			if text := f.Error(); !slices.Contains(c.Warnings, text) {
				c.Warnings = append(c.Warnings, text)
			}
		}
	}
}
