package simengine

import (
	"testing"

	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/trace"
)

// Every instruction that accesses device memory is among those of the warps chosen, which are the first that do.
func TestWarpsFor(t *testing.T) {
	of := func(space ir.Space, pcs ...int32) (w trace.Warp) {
		for _, pc := range pcs {
			w.Accesses = append(w.Accesses, trace.Access{PC: pc, Space: space})
		}
		return w
	}
	for _, c := range []struct {
		name  string
		warps []trace.Warp
		want  uint32
	}{
		{"alike", []trace.Warp{of(ir.Global, 1, 2), of(ir.Global, 1, 2), of(ir.Global, 2)}, 1},
		{"a producer behind others", []trace.Warp{of(ir.Shared, 1), of(ir.Global, 3), of(ir.Global, 3, 4)}, 6},
		{"nobody", []trace.Warp{of(ir.Shared, 1)}, 0},
	} {
		if got := warpsFor(&trace.CTA{Warps: c.warps}); got != c.want {
			t.Errorf("%s: warps %b, want %b", c.name, got, c.want)
		}
	}
}
