package cost

import (
	"math"
	"testing"

	"github.com/warptune/warptune/deploy/calibrate/results/measured"
	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/timing"
)

// TestMatchesTakeWhatWasMeasured holds how long matches take against what an H100 took (deploy/calibrate
// match.latency, less the nine cycles of what stands between, and match.rate beside sums; of 64 bits by themselves).
func TestMatchesTakeWhatWasMeasured(t *testing.T) {
	checked := 0
	for _, m := range append(measured.On(t, "h100", "match.latency"), measured.On(t, "h100", "match.rate")...) {
		k := &ir.Kernel{Instrs: []ir.Instr{{Op: ir.Match, Type: ir.B32}}}
		matches, beside := []timing.Match{{PC: 0, Values: float64(m.Int("values"))}}, "iadd"
		switch m.Text("op") {
		case "any.b64":
			k.Instrs[0].Type, beside = ir.B64, "nothing"
		case "all.b32":
			matches = nil
		}
		hold, latency := MatchCost(k, &assemble.Instr{Class: assemble.Match}, matches)
		took := latency + 9
		if m.Name == "match.rate" {
			if m.Text("with") != beside || m.Int("warps") != 32 || m.Int("values") < 4 {
				continue // else something else decides
			}
			took = hold / 4 // of an SM
		}
		if math.Abs(took/m.Value-1) > 0.1 {
			t.Errorf("%s of %v: %.1f cycles, measured %.1f", m.Name, m.Params, took, m.Value)
		}
		checked++
	}
	if checked < 20 {
		t.Errorf("%d measurements", checked)
	}
}
