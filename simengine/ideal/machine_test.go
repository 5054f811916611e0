package ideal

import (
	"testing"

	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/simengine/timing/cost"
)

// What L2 takes for a sector falls by as much for copies to shared memory as for loads where it moves bytes at no cost.
func TestL2MovesCopiesAtNoCost(t *testing.T) {
	for _, name := range []string{"h100", "h200"} {
		d, err := arch.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		cycles := func(s Set) (copies, engine float64) {
			m, err := cost.NewMachine(s.Machine(d))
			if err != nil {
				t.Fatal(err)
			}
			held := m.CopyHeld(1, 1)
			return held[4] / m.Arch.L2BytesPerCycle, 1 / m.Arch.BulkBytesPerCycle
		}
		copies, engine := cycles(0)
		idealCopies, idealEngine := cycles(L2Bandwidth)
		if idealCopies > 2*copies/fast || idealEngine > 2*engine/fast {
			t.Errorf("%s: a copied byte takes %g cycles of L2 and %g of the SM's engine; %g and %g where L2 moves bytes at no cost", name, copies, engine, idealCopies, idealEngine)
		}
	}
}
