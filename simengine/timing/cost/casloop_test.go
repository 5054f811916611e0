package cost

import (
	"math"
	"testing"

	"github.com/warptune/warptune/deploy/calibrate/results/measured"
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/timing/coalesce"
	"github.com/warptune/warptune/simengine/trace"
)

// Sums of floating-point numbers in shared memory must take as long as on an H200, by lanes that share a word and
// by the words of a bank (deploy/calibrate wavefronts.shared_sums_banks). A warp does its rounds one after another,
// and many warps the passes of all of them.
func TestSwapsAgainstMeasured(t *testing.T) {
	d, err := arch.Load("h200")
	if err != nil {
		t.Fatal(err)
	}
	m, err := NewMachine(d)
	if err != nil {
		t.Fatal(err)
	}
	alone := map[int]float64{}
	sum, checked := 0.0, 0
	for _, c := range measured.Of(t, "wavefronts.shared_sums_banks") {
		width, warps, lanes, stride := c.Int("bytes"), c.Int("warps"), c.Int("lanes"), c.Int("stride")
		if warps == 1 && lanes == 1 && stride == 1 {
			alone[width] = c.Value
		}
		var addr coalesce.Lanes
		for i := range addr {
			addr[i] = uint64(i / lanes * stride * width)
		}
		const all = 1<<32 - 1
		passes, ideal := coalesce.Shared(&addr, all, width, 4)
		loop := CASLoopOf(&ir.Instr{Type: map[int]ir.Type{4: ir.F32, 8: ir.F64}[width]}, &trace.Access{
			Passes: uint16(passes), Ideal: uint16(ideal), MaxSame: uint8(coalesce.MaxSame(&addr, all, width)),
			Turns: uint8(coalesce.Turns(&addr, all, width, 4)),
		})
		chain := alone[width] + float64(loop.Rounds*m.LatCASRound+loop.Waits)
		got := math.Max(chain, float64(int64(warps)*(int64(passes)+loop.Passes)))
		off := math.Abs(math.Log(got / c.Value))
		if off > math.Log(1.4) {
			t.Errorf("%v: %.0f cycles, measured %.0f", c.Params, got, c.Value)
		}
		sum += off
		checked++
	}
	if mean := sum / float64(max(checked, 1)); checked < 180 || mean > 0.13 {
		t.Errorf("%d measurements, %.3f off in the mean", checked, mean)
	}
}
