package evaluate

import (
	"math"

	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/tuner/kernel/call"
)

// unlaunchable says of a launch, before anything is compiled for it, that no kernel can be launched so: by its extents,
// and by its dynamic shared memory. nil: by these it can.
func unlaunchable(l *call.Launch, d *arch.Descriptor) error {
	if l.Recorded && l.Compile.Missing != nil {
		return nil // the record of what did not compile has no extents
	}
	var grid, block [3]int
	for i := range 3 {
		if l.Grid[i] > math.MaxInt32 || l.Block[i] > math.MaxInt32 {
			return nil // request refuses it
		}
		grid[i], block[i] = int(l.Grid[i]), int(l.Block[i])
	}
	least := arch.Kernel{Threads: block[0] * block[1] * block[2], Registers: 1, Shared: l.DynamicShared}
	if err := arch.CheckLaunch(d, grid, block, least); err != nil {
		return &simengine.Failure{Kind: simengine.FailureLaunch, Err: err}
	}
	return nil
}
