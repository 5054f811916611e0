package clock

import (
	"math"
	"testing"

	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/ir"
)

// A selection has a comparison's result as soon as any arithmetic, a guarded instruction later, and another comparison may
// write the same predicate meanwhile.
func TestSelectionsHavePredicatesSoonerThanGuards(t *testing.T) {
	d := h200(t)
	const pairs = 16
	chain := func(guarded bool) func(p *program) {
		return func(p *program) {
			for range pairs {
				p.emit(assemble.ALU, ir.Setp, 0, int(assemble.PredBase)+1, 4)
				p.emit(assemble.ALU, ir.Selp, 0, 4, int(assemble.PredBase)+1)
				b := &p.code.Blocks[len(p.code.Blocks)-1]
				b.Instrs[len(b.Instrs)-1].Guarded = guarded
			}
		}
	}
	for _, c := range []struct {
		guarded bool
		second  string
	}{{false, arch.LatencyALU}, {true, arch.LatencyPredicate}} {
		want := pairs * (d.Latency[arch.LatencyALU] + d.Latency[c.second])
		if got := turnCycles(t, d, 1, chain(c.guarded)); math.Abs(got-want) > 16 {
			t.Errorf("guarded %v: %.0f cycles a turn, want %.0f", c.guarded, got, want)
		}
	}
}
