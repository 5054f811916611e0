package cost

import (
	"math"
	"testing"

	"github.com/warptune/warptune/deploy/calibrate/results/measured"
	"github.com/warptune/warptune/simengine/timing/dram"
	"github.com/warptune/warptune/simengine/trace"
)

// Copies to shared memory must take as long as they take an SM of an H100 and of an H200 by the lines that they
// read (deploy/calibrate asyncs.copies, 16 warps, one SM). They go through L1 of what is there, past it of what L2
// has.
func TestCopiesTakeAsLongAsMeasured(t *testing.T) {
	for _, gpu := range []string{"h100", "h200"} {
		m, err := NewMachine(h200(t))
		if err != nil {
			t.Fatal(err)
		}
		checked := 0
		for _, c := range measured.On(t, gpu, "asyncs.copies") {
			bytes, row := c.Int("bytes"), c.Int("row")
			if c.Int("ctas") != 1 || c.Int("warps") != 16 || c.Int("footprint") != 4096 || c.Int("pitch") != row {
				continue
			}
			lines := int64(32 * bytes / max(row, 1) * max(row/128, 1))
			got := float64(m.copyCost(lines, false))
			if c.Text("op") == "cg" {
				port := dram.Ticks(float64(32*bytes) / m.Arch.L2BytesPerCycleSM)
				got = float64(max(lines*CopyTurns(&trace.Line{Sectors: 1}), port))
			}
			got /= dram.Fraction
			if off := math.Abs(got/c.Value - 1); off > 0.15 {
				t.Errorf("%s: %d bytes a lane (%s) in rows of %d: %.1f cycles, measured %.1f", gpu, bytes, c.Text("op"), row, got, c.Value)
			}
			checked++
		}
		if checked < 15 {
			t.Errorf("%s: %d measurements", gpu, checked)
		}
	}
}

// What four copies past L1 of four lines leave to loads from shared memory, four turns each, must be
// what an H100 leaves (deploy/calibrate asyncs.beside, where loads take most of the time).
func TestCopiesBesideLoads(t *testing.T) {
	m, err := NewMachine(h200(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range measured.On(t, "h100", "asyncs.beside") {
		loads := c.Int("loads")
		if loads < 8 {
			continue
		}
		past := c.Text("op") == "cg"
		got := float64(4*(m.copyCost(4, past)+16*m.FillSteps(true, past)))/dram.Fraction + float64(4*loads)
		if off := math.Abs(got/c.Value - 1); off > 0.1 {
			t.Errorf("%s, %d loads: %.1f cycles, measured %.1f", c.Text("op"), loads, got, c.Value)
		}
	}
}
