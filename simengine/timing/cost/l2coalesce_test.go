package cost

import (
	"math"
	"testing"

	"github.com/warptune/warptune/deploy/calibrate/results/measured"
	"github.com/warptune/warptune/simengine/arch"
)

// Requests of SMs that read the same lines at about the same time must reach L2 as they do on an H100 and an
// H200 (deploy/calibrate merged.l2_asked, SMs that begin together, 200 and 800 cycles apart).
func TestMergedRequestsAgainstMeasured(t *testing.T) {
	for _, gpu := range []string{"h100", "h200"} {
		d, err := arch.Load(gpu)
		if err != nil {
			t.Fatal(err)
		}
		m, err := NewMachine(d)
		if err != nil {
			t.Fatal(err)
		}
		asked := measured.On(t, gpu, "merged.read")
		sum, checked := 0.0, 0
		for i, c := range measured.On(t, gpu, "merged.l2_asked") {
			sharers := c.Int("sharers")
			if c.Int("b") >= 0 || c.Int("loops") < 1024 || sharers < 16 {
				continue
			}
			got, _ := m.L2Coalesce(float64(sharers))
			off := math.Abs(math.Log(got / (c.Value / asked[i].Value)))
			if off > math.Log(1.8) {
				t.Errorf("%s: %v: %.2f of the requests, measured %.2f", gpu, c.Params, got, c.Value/asked[i].Value)
			}
			sum += off
			checked++
		}
		if mean := sum / float64(max(checked, 1)); checked < 20 || mean > 0.25 {
			t.Errorf("%s: %d measurements, %.2f off in the mean", gpu, checked, mean)
		}
	}
}

// SMs that read each its own ask for all, and nothing is known of GPUs that were not measured.
func TestNothingMergesAlone(t *testing.T) {
	for _, gpu := range []string{"h200", "a100", "t4"} {
		d, err := arch.Load(gpu)
		if err != nil {
			t.Fatal(err)
		}
		m, err := NewMachine(d)
		if err != nil {
			t.Fatal(err)
		}
		for _, readers := range []float64{0, 1, 8, 132} {
			requests, held := m.L2Coalesce(readers)
			alone := gpu != "h200" || readers <= d.L2MergingGroups
			if alone != (requests == 1) || alone != (held == 1) || held < requests || requests <= 0 {
				t.Errorf("%s, %g readers: %g of the requests, %g of the time", gpu, readers, requests, held)
			}
		}
	}
}
