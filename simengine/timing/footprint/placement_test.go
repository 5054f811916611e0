package footprint

import (
	"testing"

	"github.com/warptune/warptune/deploy/calibrate/results/measured"
	"github.com/warptune/warptune/simengine/timing"
)

// CTAs that start together on an SM are as far apart as on an H200
// (deploy/calibrate/microbench/launch.cu), in the median.
func TestPlacementAgainstH200(t *testing.T) {
	d := h200(t)
	in := timing.Input{Arch: d, Grid: [3]int{1 << 16, 1, 1}}
	p := NewPlacement(&in, 8)
	n := 0
	for _, m := range measured.Of(t, "launch.apart") {
		if m.Int("percentile") != 50 {
			continue
		}
		n++
		for k := int64(1); k < 8; k++ {
			if got := p.At(k)[0] - p.At(k - 1)[0]; float64(got) != m.Value {
				t.Errorf("CTAs %d and %d of an SM are %d apart, measured %.0f", k-1, k, got, m.Value)
			}
		}
	}
	if n == 0 {
		t.Error("nothing was measured")
	}
}

// Of a grid 8 CTAs wide an SM of 132 begins with two columns, and has all of them later.
func TestSharersOfColumns(t *testing.T) {
	in := timing.Input{Arch: h200(t), Grid: [3]int{8, 4096, 1}}
	p := NewPlacement(&in, 32)
	const x, y = Axes(1), Axes(2)
	if got := p.Sharers(x, 32); got != 16 {
		t.Errorf("%.1f CTAs share a column in the first wave, want 16", got)
	}
	if got := p.Sharers(x, 128); got < 4 || got > 6 {
		t.Errorf("%.1f CTAs share a column in four waves, want about 5", got)
	}
	if got := p.Sharers(y, 32); got != 1 {
		t.Errorf("%.1f CTAs share a row, want 1", got)
	}
	if got := p.Sharers(x|y, 128); got != 1 {
		t.Errorf("%.1f CTAs are the same one", got)
	}
}
