package regalloc

import (
	"github.com/warptune/warptune/simengine/assemble/vreg"
)

// Scratch is storage that allocations reuse.
type Scratch struct {
	files  [vreg.NumFiles]registerFile
	ranges rangeBuilder
}
