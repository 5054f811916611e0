package timing

import (
	"bufio"
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/ir"
)

// TestMatchesTakeWhatWasMeasured holds how long matches take against what an H100 took (deploy/calibrate
// match.latency, less the nine cycles of what stands between, and match.rate beside sums; of 64 bits by themselves).
func TestMatchesTakeWhatWasMeasured(t *testing.T) {
	f, err := os.Open("../../deploy/calibrate/results/h100.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	checked := 0
	for s := bufio.NewScanner(f); s.Scan(); {
		var m struct {
			Name   string
			Params struct {
				Op, With string
				Values   float64
				Warps    int
			}
			Value float64
		}
		if !strings.Contains(s.Text(), `"match.`) || json.Unmarshal(s.Bytes(), &m) != nil {
			continue
		}
		k := &ir.Kernel{Instrs: []ir.Instr{{Op: ir.Match, Type: ir.B32}}}
		beside := "iadd"
		if m.Params.Op == "any.b64" {
			k.Instrs[0].Type, beside = ir.B64, "nothing"
		}
		matches := []Match{{PC: 0, Values: m.Params.Values}}
		if m.Params.Op == "all.b32" {
			matches = nil
		}
		hold, latency := MatchCost(k, &assemble.Instr{Class: assemble.Match}, matches)
		took := latency + 9
		if m.Name == "match.rate" {
			if m.Params.With != beside || m.Params.Warps != 32 || m.Params.Values < 4 {
				continue // else something else decides
			}
			took = hold / 4 // of an SM
		}
		if math.Abs(took/m.Value-1) > 0.1 {
			t.Errorf("%s of %v: %.1f cycles, measured %.1f", m.Name, m.Params, took, m.Value)
		}
		checked++
	}
	if checked < 20 {
		t.Errorf("%d measurements", checked)
	}
}
