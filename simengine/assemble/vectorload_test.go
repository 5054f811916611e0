package assemble

import (
	"testing"

	"github.com/warptune/warptune/simengine/assemble/asmtest"
)

// Eight rows by 32 steps: neither all rows' vectors of four words nor all columns fit 32
// registers at once; one vector after the other does.
func TestVectorsAreUsedUpUnderACap(t *testing.T) {
	opt := hopper
	opt.MaxRegisters = 32
	p := must(t, asmtest.Product(8, 32), opt)
	if p.SpillBytes != 0 || p.Registers > 32 {
		t.Errorf("%d registers and %d bytes spilled under a cap of 32, want none spilled", p.Registers, p.SpillBytes)
	}
	if len(p.Joined) != 192 {
		t.Errorf("%d loads joined to others, want 192 of 288", len(p.Joined))
	}
}
