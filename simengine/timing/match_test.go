package timing

import (
	"math"
	"testing"

	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/ir"
)

// TestMatchesTakeWhatWasMeasured holds how long matches take against what an H100 took (deploy/calibrate
// match.latency, less the nine cycles of what stands between, and match.rate beside sums; of 64 bits by themselves).
func TestMatchesTakeWhatWasMeasured(t *testing.T) {
	checked := 0
	for _, m := range append(measuredOn(t, "h100", "match.latency"), measuredOn(t, "h100", "match.rate")...) {
		k := &ir.Kernel{Instrs: []ir.Instr{{Op: ir.Match, Type: ir.B32}}}
		matches, beside := []Match{{PC: 0, Values: float64(m.int("values"))}}, "iadd"
		switch m.text("op") {
		case "any.b64":
			k.Instrs[0].Type, beside = ir.B64, "nothing"
		case "all.b32":
			matches = nil
		}
		hold, latency := MatchCost(k, &assemble.Instr{Class: assemble.Match}, matches)
		took := latency + 9
		if m.Name == "match.rate" {
			if m.text("with") != beside || m.int("warps") != 32 || m.int("values") < 4 {
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
