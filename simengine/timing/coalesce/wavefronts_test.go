package coalesce

import (
	"slices"
	"testing"

	"github.com/warptune/warptune/deploy/calibrate/results/measured"
)

// A load of global memory takes as many cycles as it has wavefronts, for any stride and width, on an
// H200: a cycle and what is left of it are for its address.
func TestGlobalWavefrontsAgainstH200(t *testing.T) {
	records := measured.Records[struct {
		Name   string
		Params struct {
			Kind          string
			Stride, Width int
		}
		Value float64 // cycles
	}](t, "../../../deploy/calibrate/results/h200.jsonl.gz")
	checked := 0
	for _, m := range records {
		if m.Name != "wavefronts.stride" || !slices.Contains([]string{"global_ld", "global_ld64", "global_ld128"}, m.Params.Kind) {
			continue
		}
		var lanes Lanes
		for i := range lanes {
			lanes[i] = uint64(i * m.Params.Stride * m.Params.Width)
		}
		n := float64(GlobalWavefronts(&lanes, ^uint32(0), m.Params.Width))
		if m.Value < n || m.Value > 1.05*n+0.55 {
			t.Errorf("%d bytes a lane, %d apart: %.0f wavefronts, an H200 takes %.2f cycles", m.Params.Width, m.Params.Stride*m.Params.Width, n, m.Value)
		}
		checked++
	}
	if checked < 20 {
		t.Errorf("%d measurements", checked)
	}
}
