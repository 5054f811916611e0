package timing

import (
	"testing"

	"github.com/warptune/warptune/simengine/timing/coalesce"
)

// A load of global memory takes as many cycles as it has wavefronts, for any stride and width, on an H200: a cycle and
// what is left of it are for its address.
func TestGlobalWavefrontsAgainstH200(t *testing.T) {
	checked := 0
	for _, m := range measured(t, "wavefronts.stride") {
		switch m.text("kind") {
		case "global_ld", "global_ld64", "global_ld128":
		default:
			continue
		}
		var lanes coalesce.Lanes
		for i := range lanes {
			lanes[i] = uint64(i * m.int("stride") * m.int("width"))
		}
		n := float64(coalesce.GlobalWavefronts(&lanes, ^uint32(0), m.int("width")))
		if m.Value < n || m.Value > 1.05*n+0.55 {
			t.Errorf("%d bytes a lane, %d apart: %.0f wavefronts, an H200 takes %.2f cycles", m.int("width"), m.int("stride")*m.int("width"), n, m.Value)
		}
		checked++
	}
	if checked < 20 {
		t.Errorf("%d measurements", checked)
	}
}
