package cost

import (
	"testing"

	calibrated "github.com/warptune/warptune/deploy/calibrate/results/measured"
	"github.com/warptune/warptune/simengine/timing/dram"
)

// Arithmetic beside warpgroup MMAs, by the pipe that executes all of it, is slowed as was measured. What tensor cores and
// single-precision arithmetic do together in a cycle is about one of both.
func TestSlowedBesideAgainstMeasured(t *testing.T) {
	type key struct {
		op, a, beside string
		warps         int
	}
	others, products := map[key]float64{}, map[key]float64{}
	for _, r := range calibrated.Records[calibrated.Measurement](t, "../../../deploy/calibrate/results/h200-tiles.jsonl.gz") {
		if r.Int("warpgroups") != 1 {
			continue
		}
		k := key{r.Text("op"), r.Text("a"), r.Text("beside"), r.Int("warps")}
		switch r.Name {
		case "wgmma.others":
			others[k] = r.Value
		case "wgmma.slowed":
			products[k] = r.Value
		}
	}
	pipes := map[string]Pipe{"LOP3": PipeALU, "IMAD": PipeIMAD, "MUFU": PipeXU}
	seen := 0
	for k, rate := range others {
		alone := others[key{"none", "shared", k.beside, k.warps}]
		if k.op != "m64n128k16.f32.f16.f16" && k.op != "m64n256k16.f32.f16.f16" || alone == 0 {
			continue
		}
		seen++
		if p, ok := pipes[k.beside]; ok {
			if got := SlowedBeside(p) * rate / alone; got < 0.75 || got > 1.15 {
				t.Errorf("%+v: %.2f times as slow, measured %.2f", k, SlowedBeside(p), alone/rate)
			}
		}
		if k.beside == "FFMA" {
			left := products[key{k.op, k.a, "none", 0}] / products[k]
			if sum := left + rate*DelaysProduct/dram.Fraction; sum < 0.9 || sum > 1.2 {
				t.Errorf("%+v: %.2f products and %.2f instructions a cycle", k, left, rate)
			}
		}
	}
	if seen < 20 {
		t.Fatalf("%d measurements", seen)
	}
}
