package cost

import (
	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/timing"
)

// SlowPathOf returns the slow path that a machine instruction calls, nil for one that calls
// none.
func SlowPathOf(in *assemble.Instr, slowPaths []timing.SlowPath) *timing.SlowPath {
	if !in.Calls {
		return nil
	}
	for i := range slowPaths {
		if slowPaths[i].PC == in.Source {
			return &slowPaths[i]
		}
	}
	return nil
}
