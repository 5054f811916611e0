package fidelity

import (
	"archive/zip"
	"os"
	"runtime"
	"sort"
	"testing"

	"github.com/warptune/warptune/cmd/internal/evaluate"
	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/record"
)

// WARPTUNE_FULL=1 takes every configuration instead of a sample.
var full = os.Getenv("WARPTUNE_FULL") != ""

// No prediction at either level is below the floor, which is the same at both:
// what it rules out without clocking, clocking would not have found. Nor is it so
// low that it rules nothing out.
func TestNoPredictionIsBelowItsFloor(t *testing.T) {
	for _, name := range []string{"h200-built-in", "h100-built-in"} {
		t.Run(name, func(t *testing.T) {
			set := measured(t, name)
			recs := timings(t, set)
			if !full {
				recs = sampled(recs, 30)
			}
			checkFloors(t, batchOf(t, set), name, recs)
		})
	}
	const silicon = "../../../../shared/silicon/h200/"
	for _, set := range [][2]string{{"timings", "ptx"}, {"timings-clang", "ptx-clang"}} {
		f, err := os.Open(silicon + set[0] + ".jsonl.gz")
		if err != nil {
			t.Skipf("the H200 data set is not here: %v", err)
		}
		defer f.Close()
		recs, _, err := record.Read(set[0], f)
		if err != nil {
			t.Fatal(err)
		}
		ptx, err := zip.OpenReader(silicon + set[1] + ".zip")
		if err != nil {
			t.Fatal(err)
		}
		defer ptx.Close()
		if !full {
			recs = sampled(recs, 20)
		}
		batch := newBatch(t, "h200")
		batch.PTX = ptx
		checkFloors(t, batch, set[0], recs)
	}
}

func checkFloors(t *testing.T, batch evaluate.Batch, name string, recs []record.Record) {
	t.Helper()
	batch.Slots = runtime.GOMAXPROCS(0)
	var levels [2][]evaluate.Result
	for i, level := range []simengine.Level{simengine.Model, simengine.Cycle} {
		var err error
		batch.Level = level
		if levels[i], err = batch.Run(t.Context(), recs); err != nil {
			t.Fatal(err)
		}
	}
	var tight []float64
	for i := range recs {
		m, c := &levels[0][i].Outcome, &levels[1][i].Outcome
		if m.Validity != tuner.Correct || c.Validity != tuner.Correct {
			t.Errorf("%s, line %d: %v at level model, %v at level cycle", name, recs[i].Line, m.Validity, c.Validity)
			continue
		}
		if f := m.FloorUS; f <= 0 || f > m.TimeUS || f > c.TimeUS || f != c.FloorUS {
			t.Errorf("%s, line %d: floor %v µs, %v µs at level model, %v µs at level cycle, which says the floor is %v µs",
				name, recs[i].Line, f, m.TimeUS, c.TimeUS, c.FloorUS)
		}
		tight = append(tight, m.FloorUS/c.TimeUS)
	}
	sort.Float64s(tight)
	middle := tight[len(tight)/2]
	t.Logf("%s: %d configurations, the median floor is %.2f of the time at level cycle", name, len(recs), middle)
	if middle < 0.6 {
		t.Errorf("%s: the median floor is %.2f of the time at level cycle: it rules out little", name, middle)
	}
}
