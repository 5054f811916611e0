package clock

import (
	"testing"

	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/timing/cost"
)

// What overwrites the address of a copy waits until the load/store unit has read it; what writes another register does not.
func TestAddressesOfCopiesAreReadBeforeTheyAreOverwritten(t *testing.T) {
	d := h200(t)
	const copies = 8
	turn := func(written int) float64 {
		return turnCycles(t, d, 1, func(p *program) {
			for range copies {
				p.emit(assemble.AsyncCopy, ir.CpAsync, ir.Global, -1, 4)
				p.emit(assemble.ALU, ir.Add, 0, written, 6)
			}
		})
	}
	if over, other := turn(4), turn(5); over < other+copies*(cost.OperandsRead-2) {
		t.Errorf("%.0f cycles a turn where addresses are overwritten, %.0f else", over, other)
	}
}
