package analytic

import (
	"math"
	"testing"

	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/trace"
)

// A selection has a comparison's result as soon as any arithmetic, a guarded instruction later.
func TestSelectionsHavePredicatesSoonerThanGuards(t *testing.T) {
	d := h200(t)
	const pairs = 16
	cycles := func(guarded bool, n int) float64 {
		k := around(func(k *kernel) {
			for range pairs {
				k.emit(assemble.ALU, ir.Setp, int(assemble.PredBase)+1, 4)
				k.emit(assemble.ALU, ir.Selp, 4, int(assemble.PredBase)+1)
				b := &k.code.Blocks[len(k.code.Blocks)-1]
				b.Instrs[len(b.Instrs)-1].Guarded = guarded
			}
		})
		return predict(t, input(d, k, eachWarp(func(_ int64, _, _ int, w *trace.Warp) { iterate(w, n, n, func(int) {}) }), 1, 1, 1)).Cycles
	}
	for _, c := range []struct {
		guarded bool
		second  string
	}{{false, arch.LatencyALU}, {true, arch.LatencyPredicate}} {
		got, want := (cycles(c.guarded, 64)-cycles(c.guarded, 32))/32, pairs*(d.Latency[arch.LatencyALU]+d.Latency[c.second])
		if math.Abs(got-want) > 16 {
			t.Errorf("guarded %v: %.0f cycles a turn, want %.0f", c.guarded, got, want)
		}
	}
}
