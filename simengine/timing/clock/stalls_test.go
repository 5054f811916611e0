package clock

import (
	"math"
	"testing"

	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/timing"
	"github.com/warptune/warptune/simengine/trace"
)

// once is CTAs whose warps run the first block.
func once(cta int64, warps int) *trace.CTA {
	t := &trace.CTA{ID: cta, Warps: make([]trace.Warp, warps)}
	for k := range t.Warps {
		t.Warps[k].Steps = []trace.Step{{Block: 0, Mask: ^uint32(0)}}
	}
	return t
}

// A warp that only its own instructions keep from a pipe waits for the stall counts that the compiler gave them; where
// warps fill the pipe together, it throttles them in the cycles in which it is busy. In the others one of them is selected.
func TestOwnPipesAndOthers(t *testing.T) {
	stalls := func(warps int) (wait, throttled, others float64) {
		d := h200(t)
		p := &program{}
		p.block()
		for i := range 256 {
			p.emit(assemble.ALU, ir.Add, 0, 1+i%16)
		}
		p.emit(assemble.Exit, ir.Exit, 0, -1)
		r := run(t, input(d, p, once, d.SMs, 1, warps))
		return r.WarpStalls[timing.Wait], r.WarpStalls[timing.MathPipeThrottle], r.WarpStalls[timing.NotSelected]
	}
	if wait, throttled, _ := stalls(1); wait < 0.9 || throttled > 0 {
		t.Errorf("one warp alone: %.2f wait, %.2f math_pipe_throttle an instruction, want the 1 cycle that its own instruction holds the pipe", wait, throttled)
	}
	wait, throttled, others := stalls(32)
	if throttled < 3*wait || math.Abs(throttled-others) > 0.1*throttled {
		t.Errorf("8 warps a scheduler: %.2f wait, %.2f math_pipe_throttle, %.2f not_selected an instruction: a pipe that takes one every other cycle is busy in half of the cycles", wait, throttled, others)
	}
}

// Waits for warpgroup products are told apart from barriers, though Nsight Compute counts them as such. Of products that
// two warpgroups take turns with, each waits as long for its own as for the other's.
func TestWaitsForProducts(t *testing.T) {
	result := func(groups, rounds, n int) *timing.Result {
		p := &async{}
		for range 4 * groups {
			p.warp()
			for range rounds {
				p.products(n, 256, true)
			}
			p.exit()
		}
		return p.resultOf(t, "h100", 1, 1)
	}
	for _, c := range []struct {
		what              string
		groups, rounds, n int
		want              timing.StallReason
	}{
		{"one product at a time", 1, 16, 1, timing.Products},
		{"many of one warpgroup", 1, 1, 64, timing.Wait},
		{"many of two warpgroups", 2, 1, 64, timing.Products},
	} {
		r := result(c.groups, c.rounds, c.n)
		top := timing.Wait
		for k := range r.WarpStalls {
			if r.WarpStalls[k] > r.WarpStalls[top] {
				top = timing.StallReason(k)
			}
		}
		if top != c.want {
			t.Errorf("%s: warps wait longest for %s, want %s: %v", c.what, top, c.want, r.WarpStalls)
		}
		if own, others := r.WarpStalls[timing.Wait], r.WarpStalls[timing.Products]; c.groups == 2 && own < 0.5*others {
			t.Errorf("%s take turns: %.1f for a warp's own product, %.1f for others'", c.what, own, others)
		}
		counted := r.Metrics["smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio"]
		if want := r.WarpStalls[timing.Products] + r.WarpStalls[timing.Barrier]; counted != want {
			t.Errorf("%s: %v counted as barriers, want %v", c.what, counted, want)
		}
	}
}
