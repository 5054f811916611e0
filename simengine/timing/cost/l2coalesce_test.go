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

// Tiles that many CTAs share come to the SMs of an H100, whose L2 has 80 slices, as much slower than to those of an H200,
// whose L2 has 96, as data of their own (deploy/calibrate samerows.tiles and copied.tiles: 0.82 and 0.84; 0.84).
func TestTilesComeByTheSlicesOfL2(t *testing.T) {
	took := func(gpu string, together float64) float64 { // a line, cycles
		m := machine(t, gpu)
		return m.CopyHeld(64, 1, together)[4] / m.Arch.L2BytesPerCycle
	}
	for _, together := range []float64{1, 8, 64} {
		if share := took("h200", together) / took("h100", together); share < 0.80 || share > 0.86 {
			t.Errorf("%g CTAs: %.2f", together, share)
		}
	}
}
