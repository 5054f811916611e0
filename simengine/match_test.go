package simengine_test

import (
	"fmt"
	"testing"

	"github.com/warptune/warptune/simengine"
)

// A match takes as long as its lanes have values, 11 cycles each in a chain of one warp (deploy/calibrate
// match.latency); match.all takes as long as one value whatever there are.
func TestMatches(t *testing.T) {
	chain := func(op string, values int) string {
		return kernel("", fmt.Sprintf(`
	rem.u32 %%r10, %%r0, %d;
	mov.u32 %%r12, 0;
again:
	match.%s.sync.b32 %%r11, %%r10, -1;
	and.b32 %%r11, %%r11, 0;
	add.u32 %%r10, %%r10, %%r11;
	add.u32 %%r12, %%r12, 1;
	setp.lt.u32 %%p1, %%r12, %%r2;
	@%%p1 bra again;`, values, op))
	}
	each := func(op string, values int, level simengine.Level) float64 {
		var cycles [2]float64
		for i, steps := range []int{64, 192} {
			cycles[i] = report(t, chain(op, values), launch{steps: steps, level: level}).Cycles
		}
		return (cycles[1] - cycles[0]) / 128
	}
	within(t, "cycles of a match of one value", 25, 60, func(l simengine.Level) float64 { return each("any", 1, l) })
	within(t, "cycles of a match.all of many", 25, 60, func(l simengine.Level) float64 { return each("all", 32, l) })
	within(t, "cycles a value of a match of many", 10, 12, func(l simengine.Level) float64 { return (each("any", 32, l) - each("any", 1, l)) / 31 })
}
