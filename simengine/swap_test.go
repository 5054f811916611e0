package simengine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine"
)

// Sums of floats in shared memory are a loop over a swap that lanes of one word go through
// in turn, 95 cycles each; sums of integers take a cycle a lane (deploy/calibrate
// wavefronts.shared_sums and same_address, 1 warp).
func TestSumsInSharedMemory(t *testing.T) {
	const atATime = 8
	sums := func(op string, sharers int) string {
		return kernel(".shared .align 4 .b8 sums[128];", fmt.Sprintf(`
	mov.u32 %%r10, sums;
	div.u32 %%r11, %%r0, %d;
	shl.b32 %%r11, %%r11, 2;
	add.u32 %%r10, %%r10, %%r11;
	mov.f32 %%f0, 0f3F800000;
	mov.u32 %%r12, 0;
again:
	%s
	add.u32 %%r12, %%r12, %d;
	setp.lt.u32 %%p1, %%r12, %%r2;
	@%%p1 bra again;`, sharers, strings.Repeat(op+";\n", atATime), atATime))
	}
	each := func(op string, sharers int, level simengine.Level) float64 {
		var cycles [2]float64
		for i, steps := range []int{64, 192} {
			cycles[i] = report(t, sums(op, sharers), launch{steps: steps, level: level}).Cycles
		}
		return (cycles[1] - cycles[0]) / 128
	}
	const floats, integers = "red.shared.add.f32 [%r10], %f0", "red.shared.add.u32 [%r10], %r0"
	within(t, "cycles of a sum of floats that no lanes share", 75, 115, func(l simengine.Level) float64 { return each(floats, 1, l) })
	within(t, "cycles a lane of a sum that all share", 75, 105, func(l simengine.Level) float64 { return each(floats, 32, l) / 32 })
	within(t, "cycles a lane of a sum of integers that all share", 0.9, 2, func(l simengine.Level) float64 { return each(integers, 32, l) / 32 })
}
