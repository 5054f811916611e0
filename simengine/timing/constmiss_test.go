package timing

import (
	"bufio"
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine/ir"
)

// TestConstantsApartAgainstH100 holds what loads take whose lanes read a table at places of their own, two cycles a word and
// what a line misses, against what an H100 took with 32 warps on one SM and on all (deploy/calibrate
// constants.apart; 16 and 32 lanes): within a tenth in the mean and half at worst.
func TestConstantsApartAgainstH100(t *testing.T) {
	f, err := os.Open("../../deploy/calibrate/results/h100.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	checked, sum := 0, 0.0
	for s := bufio.NewScanner(f); s.Scan(); {
		var m struct {
			Params struct{ Stride, Table, Lanes, Warps, SMs int }
			Value  float64
		}
		if !strings.Contains(s.Text(), `"constants.apart"`) {
			continue
		}
		if err := json.Unmarshal(s.Bytes(), &m); err != nil {
			t.Fatal(err)
		}
		p := m.Params
		if p.Warps != 32 || p.Lanes < 16 || p.Lanes*p.Stride > p.Table {
			continue
		}
		lines := max(p.Lanes*min(p.Stride, 64)/64, 1)
		took := 2*float64(p.Lanes) + float64(lines)*ConstantMiss(&ir.Kernel{ConstBytes: p.Table})
		off := math.Abs(took/m.Value - 1)
		if off > 0.5 {
			t.Errorf("%+v: %.1f cycles, measured %.1f", p, took, m.Value)
		}
		sum += off
		checked++
	}
	if mean := sum / float64(max(checked, 1)); checked < 80 || mean > 0.1 {
		t.Errorf("%d measurements, %.3f off in the mean", checked, mean)
	}
}
