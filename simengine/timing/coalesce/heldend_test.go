package coalesce

import (
	"testing"

	"github.com/warptune/warptune/simengine/trace"
)

// The accesses of a block that another one holds the beginning of end with its next step and those merged into it,
// whatever comes between; where it does not come soon there are none.
func TestHeldEnd(t *testing.T) {
	root := []int32{0, 1, 2, 3, 4, 5, 5, 7}
	warp := func(blocks ...int32) *trace.Warp {
		w := &trace.Warp{}
		for i, b := range blocks {
			w.Steps = append(w.Steps, trace.Step{Block: b, Access: int32(10 * i)})
		}
		w.Accesses = make([]trace.Access, 10*len(blocks))
		return w
	}
	for name, c := range map[string]struct {
		w     *trace.Warp
		block int
		want  int32
	}{
		"none held":           {warp(3, 4, 5), 0, 0},
		"at once":             {warp(3, 5, 7), 5, 20},
		"after an arm":        {warp(3, 4, 5, 7), 5, 30},
		"with what is merged": {warp(3, 4, 5, 6, 6, 3), 5, 50},
		"not into the next":   {warp(3, 5, 5, 6), 5, 20},
		"at the end":          {warp(3, 4, 5), 5, 30},
		"never":               {warp(3, 4, 7, 1), 5, 0},
		"too late":            {warp(3, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 5), 5, 0},
	} {
		if got := HeldEnd(c.w, root, 1, c.block); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}
