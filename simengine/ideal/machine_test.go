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
		cycles := func(s Set, together float64) (copies, engine float64) {
			m, err := cost.NewMachine(s.Machine(d))
			if err != nil {
				t.Fatal(err)
			}
			held := m.CopyHeld(1, 1, together)
			return held[4] / m.Arch.L2BytesPerCycle, 1 / m.Arch.BulkBytesPerCycle
		}
		for _, together := range []float64{0, 1, 16} {
			copies, engine := cycles(0, together)
			idealCopies, idealEngine := cycles(L2Bandwidth, together)
			if idealCopies > 2*copies/fast || idealEngine > 2*engine/fast {
				t.Errorf("%s: a copied byte that %g CTAs in a row read takes %g cycles of L2 and %g of the SM's engine; %g and %g where L2 moves bytes at no cost", name, together, copies, engine, idealCopies, idealEngine)
			}
		}
	}
}
