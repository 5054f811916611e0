package clock

import (
	"math"
	"testing"

	"github.com/warptune/warptune/deploy/calibrate/results/measured"
	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/ir"
)

// As many warpgroup MMAs wait at a tensor core as measured: a warp has issued so many in a row after as many cycles.
func TestQueuedProducts(t *testing.T) {
	const afterwards = 5000 // cycles of arithmetic, in which all MMAs end; those of sums of halves do not slow it down
	issued := func(mmas, columns, warpgroups int) float64 {
		p := &async{}
		for range 4 * warpgroups {
			p.warp()
			for range mmas {
				p.do(assemble.Wgmma, ir.Instr{Op: ir.Wgmma, Matrix: &ir.Matrix{M: 64, N: columns, K: 16, Group: true, FromShared: true, D: ir.F16}})
			}
			p.busy(afterwards)
			p.exit()
		}
		return p.cycles(t, "h100", 1)
	}
	seen := 0
	for _, m := range measured.Records[measured.Measurement](t, "../../../deploy/calibrate/results/h100-queued.jsonl.gz") {
		mmas, columns, warpgroups := m.Int("mmas"), m.Int("columns"), m.Int("warpgroups")
		if m.Name != "wgmma.issued" || mmas == 0 || mmas > 16 || columns == 8 { // of 8 columns it is one or two fewer
			continue
		}
		seen++
		got := issued(mmas, columns, warpgroups) - issued(0, columns, warpgroups)
		if slack := 16 + math.Max(0.05*m.Value, float64(columns)/2); math.Abs(got-m.Value) > slack {
			t.Errorf("%d of m64n%d: the last is issued after %.0f cycles, measured %.0f", mmas, columns, got, m.Value)
		}
	}
	if seen < 48 {
		t.Errorf("only %d measurements", seen)
	}
}

// A warpgroup MMA that is waited for before the next, with a fence before it, takes as long as measured.
func TestProductsOneByOne(t *testing.T) {
	seen := 0
	for _, m := range measured.Records[measured.Measurement](t, "../../../deploy/calibrate/results/h100-queued.jsonl.gz") {
		if m.Name != "wgmma.alone" || m.Int("columns") < 64 {
			continue
		}
		seen++
		got := difference(t, "h100", 1, func(n int) *async {
			p := &async{}
			for range 4 {
				p.warp()
				for range n {
					p.do(assemble.Control, ir.Instr{Op: ir.WgmmaFence})
					p.products(1, m.Int("columns"), m.Text("a") == "shared")
				}
				p.exit()
			}
			return p
		})
		if math.Abs(got-m.Value) > 0.06*m.Value+5 {
			t.Errorf("m64n%d, A from %s: %.1f cycles, measured %.1f", m.Int("columns"), m.Text("a"), got, m.Value)
		}
	}
	if seen != 6 {
		t.Errorf("%d measurements, want 6", seen)
	}
}
