package regalloc

import (
	"github.com/warptune/warptune/simengine/assemble/vreg"
)

// Scratch is reused by allocations one after another.
type Scratch struct {
	files  [vreg.NumFiles]registerFile
	ranges rangeBuilder
}
