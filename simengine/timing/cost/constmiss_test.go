package cost

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/warptune/warptune/deploy/calibrate/results/measured"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/timing/coalesce"
	"github.com/warptune/warptune/simengine/trace"
)

// TestConstantsApartAgainstH100 holds what loads take whose lanes read a table at places of their own: two cycles a
// word and what a line misses. It must be what an H100 took with 32 warps on one SM and on all (deploy/calibrate
// constants.apart; 16 and 32 lanes), within a tenth in the mean and half at worst.
func TestConstantsApartAgainstH100(t *testing.T) {
	checked, sum := 0, 0.0
	for _, m := range measured.On(t, "h100", "constants.apart") {
		lanes, stride, table := m.Int("lanes"), m.Int("stride"), m.Int("table")
		if m.Int("warps") != 32 || lanes < 16 || lanes*stride > table {
			continue
		}
		lines := max(lanes*min(stride, 64)/64, 1)
		inOrder, _ := ConstantMiss(float64(table))
		took := 2*float64(lanes) + float64(lines)*inOrder
		off := math.Abs(took/m.Value - 1)
		if off > 0.5 {
			t.Errorf("%v: %.1f cycles, measured %.1f", m.Params, took, m.Value)
		}
		sum += off
		checked++
	}
	if mean := sum / float64(max(checked, 1)); checked < 80 || mean > 0.1 {
		t.Errorf("%d measurements, %.3f off in the mean", checked, mean)
	}
}

// TestConstantsDrawnAgainstH100 is the same for lanes that read at places drawn at random (deploy/calibrate
// constants.drawn, all SMs, 32 warps): the cost of a line and how many the reads of a few warps say there are.
func TestConstantsDrawnAgainstH100(t *testing.T) {
	const seed = 1
	random := rand.New(rand.NewPCG(seed, 0))
	for _, m := range measured.On(t, "h100", "constants.drawn") {
		size := m.Int("table")
		if m.Int("warps") != 32 || m.Int("sms") == 1 || size < 1024 {
			continue
		}
		var table ConstTable
		w, visits := trace.Warp{}, 0
		const reads = 1000
		for range reads {
			var addr coalesce.Lanes
			for l := range addr {
				addr[l] = uint64(random.IntN(size))
			}
			n, drawn := coalesce.Visits(&addr, ^uint32(0))
			if !drawn {
				t.Fatalf("seed %d: lanes that read anywhere are in order", seed)
			}
			visits += n
			w.Accesses = append(w.Accesses, trace.Access{Space: ir.Const, Passes: 32, First: int32(addr[0])})
		}
		table.Add(&w)
		_, each := table.Miss(&ir.Kernel{ConstBytes: 65536})
		took := 2*32 + float64(visits)/reads*each
		if off := math.Abs(took/m.Value - 1); off > 0.12 {
			t.Errorf("%v: %.0f cycles, measured %.0f", m.Params, took, m.Value)
		}
	}
}
