package fidelity

import (
	"os"
	"strings"
	"testing"

	"github.com/warptune/warptune/cmd/internal/evaluate"
	"github.com/warptune/warptune/deploy/calibrate/datasets"
	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/simengine/timing"
	"github.com/warptune/warptune/tuner/record"
	"github.com/warptune/warptune/tuner/score"
)

// What is said to bound a launch is what its hardware counters say, and no unit is said to do more than it can:
// over all profiled launches in the repository, or a sample of each set. Of the 2504 launches of eleven sets (all
// but overlapping-reads and independent-a to -c) the same unit is nearest in 91.1 %, one within a tenth of it in
// 97.1 %, and the same binds in 89.5 %. WARPTUNE_FULL=1 go test -v -run TestBoundsAgreeWithCounters
// ./cmd/internal/fidelity says it by set.
func TestBoundsAgreeWithCounters(t *testing.T) {
	var all Bounds
	var missing []string
	m, err := datasets.Load("../../../deploy/calibrate/datasets")
	if err != nil {
		t.Fatal(err)
	}
	for i := range m.Sets {
		p := &m.Sets[i]
		if p.Files.Counters == "" || p.Outside != "" {
			continue
		}
		if p.Missing() != nil {
			missing = append(missing, p.Name)
			continue
		}
		recs := readCounters(t, p)
		if !full {
			recs = sampled(recs, 12)
		}
		batch := batchOf(t, p)
		batch.Level = simengine.Cycle
		if batch.Launches, err = evaluate.Launches(recs); err != nil {
			t.Fatal(err)
		}
		results, err := batch.Run(t.Context(), recs)
		if err != nil {
			t.Fatal(err)
		}
		b := compareBounds(recs, results, batch.Arch)
		t.Logf("%s: unit nearest its peak %.3f of %d, within a tenth %.3f, what binds %.3f", p.Name, b.Nearest.Value(), b.Nearest.Of, b.Near.Value(), b.Bound.Value())
		noRateBeyondThePeak(t, p.Name, results, batch.Arch)
		if batch.Launches != nil { // the floors are of kernels without tensor cores' asynchronous products
			continue
		}
		for _, s := range []struct{ to, from *score.Share }{{&all.Nearest, &b.Nearest}, {&all.Near, &b.Near}, {&all.Bound, &b.Bound}} {
			s.to.Of += s.from.Of
			s.to.Agree += s.from.Agree
		}
	}
	t.Logf("all: unit nearest its peak %.3f of %d, within a tenth %.3f, what binds %.3f", all.Nearest.Value(), all.Nearest.Of, all.Near.Value(), all.Bound.Value())
	if missing != nil {
		t.Skipf("the floors are of all sets of the repository: not here are %s (make data)", strings.Join(missing, ", "))
	}
	for _, f := range []struct {
		name  string
		share score.Share
		floor float64
	}{
		{"unit nearest its peak", all.Nearest, 0.90},
		{"unit within a tenth of it", all.Near, 0.95},
		{"what binds", all.Bound, 0.87},
	} {
		if f.share.Value() < f.floor {
			t.Errorf("%s: %.3f of %d agree, fewer than %.2f", f.name, f.share.Value(), f.share.Of, f.floor)
		}
	}
}

func readCounters(t *testing.T, s *datasets.Set) []record.Record {
	t.Helper()
	f, err := os.Open(s.Path(s.Files.Counters))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	recs, _, err := record.Read(s.Name, f)
	if err != nil {
		t.Fatal(err)
	}
	return recs
}

// noRateBeyondThePeak holds the bytes that are said to be moved against the time that they are said to take.
func noRateBeyondThePeak(t *testing.T, name string, results []evaluate.Result, d *arch.Descriptor) {
	t.Helper()
	for i := range results {
		r := results[i].Report
		if r == nil {
			continue
		}
		seconds := r.Metrics["gpu__time_duration.sum"] / 1e9
		rate := (r.Metrics["dram__bytes_read.sum"] + r.Metrics["dram__bytes_write.sum"]) / seconds
		if seconds <= 0 || rate > 1.0001*d.DRAMBytesPerSecond {
			t.Errorf("%s, line %d: %.3g bytes a second from and to DRAM, whose peak is %.3g", name, i, rate, d.DRAMBytesPerSecond)
		}
		shares, _ := timing.Counted(d, r.Metrics, 0)
		for _, b := range [...]timing.Bound{timing.BoundDRAM, timing.BoundL2, timing.BoundLSU} {
			if shares[b] > 1.001 { // of sectors looked up for instructions no unit is said to be busy
				t.Errorf("%s, line %d: %s at %.3f of its peak", name, i, b, shares[b])
			}
		}
		if us := r.TimeUS - d.LaunchGapUS; us < 0 || us*1000 < 0.999*r.Metrics["gpu__time_duration.sum"] || us*1000 > 1.001*r.Metrics["gpu__time_duration.sum"] {
			t.Errorf("%s, line %d: %g µs from start to start, %g ns on the GPU", name, i, r.TimeUS, r.Metrics["gpu__time_duration.sum"])
		}
	}
}

// No predicted rate is beyond a peak, of launches among others of their kind, whose caches are warm, on several GPUs and
// at either level.
func TestNoRateBeyondThePeak(t *testing.T) {
	recs := sampled(timings(t, measured(t, "h200-built-in")), 40)
	for _, name := range []string{"h200", "h100", "a100", "rtx3090", "v100"} {
		for _, level := range []simengine.Level{simengine.Cycle, simengine.Model} {
			batch := newBatch(t, name)
			batch.Level = level
			results, err := batch.Run(t.Context(), recs)
			if err != nil {
				t.Fatal(err)
			}
			noRateBeyondThePeak(t, name+" "+level.String(), results, batch.Arch)
		}
	}
}
