package cost

import (
	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/timing"
)

// Calls returns the Detour of the operation that a machine instruction calls the slow
// path of, nil for others.
func Calls(in *assemble.Instr, detours []timing.Detour) *timing.Detour {
	if !in.Calls {
		return nil
	}
	for i := range detours {
		if detours[i].PC == in.Source {
			return &detours[i]
		}
	}
	return nil
}
