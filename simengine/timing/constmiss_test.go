package timing

import (
	"math"
	"testing"

	"github.com/warptune/warptune/simengine/ir"
)

// TestConstantsApartAgainstH100 holds what loads take whose lanes read a table at places of their own, two cycles a word and
// what a line misses, against what an H100 took with 32 warps on one SM and on all (deploy/calibrate
// constants.apart; 16 and 32 lanes): within a tenth in the mean and half at worst.
func TestConstantsApartAgainstH100(t *testing.T) {
	checked, sum := 0, 0.0
	for _, m := range measuredOn(t, "h100", "constants.apart") {
		lanes, stride, table := m.int("lanes"), m.int("stride"), m.int("table")
		if m.int("warps") != 32 || lanes < 16 || lanes*stride > table {
			continue
		}
		lines := max(lanes*min(stride, 64)/64, 1)
		took := 2*float64(lanes) + float64(lines)*ConstantMiss(&ir.Kernel{ConstBytes: table})
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
