package input

import (
	"fmt"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/tuner/kernel"
)

// RaisedCap says that a configuration asks for a smaller register cap than the real
// assembler keeps to; "" if it does not.
func RaisedCap(def *kernel.Definition, d *arch.Descriptor, config search.Config, problem []int64) string {
	launch, err := def.Launch(config, problem)
	least := assemble.LeastCap(d.CC)
	if err != nil || launch.MaxRegisters <= 0 || launch.MaxRegisters >= least {
		return ""
	}
	return fmt.Sprintf("cap %d raised to %d, ptxas' least", launch.MaxRegisters, least)
}
