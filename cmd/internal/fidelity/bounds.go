package fidelity

import (
	"github.com/warptune/warptune/cmd/internal/evaluate"
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/simengine/timing"
	"github.com/warptune/warptune/tuner/record"
	"github.com/warptune/warptune/tuner/score"
)

// Bounds is the agreement on what bounds profiled launches: on both sides counted work over the time it took, held
// against the device's peaks (timing.Counted). Units of which a record has no counter are left out on both sides.
type Bounds struct {
	// Nearest is how often the same unit is nearest its peak; Near how often the unit that is predicted to be
	// nearest comes, as measured, within a tenth of what the nearest comes to (timing.Tie).
	Nearest score.Share `json:"nearest"`
	Near    score.Share `json:"near"`
	// Bound is how often the same unit binds, or on both sides latency does, no unit being near; a unit
	// within a tenth of the nearest is as good.
	Bound score.Share `json:"bound"`
	// MostRate is the largest share of the peak that what is predicted of DRAM, L2 or L1's data stage comes to.
	MostRate float64 `json:"most_rate"`
}

// countedCycles is the counter without which no rate is known.
const countedCycles = "sm__cycles_elapsed.max"

func compareBounds(records []record.Record, results []evaluate.Result, d *arch.Descriptor) (out Bounds) {
	for i := range records {
		report := results[i].Profiled
		counters := counted(&records[i])
		if report == nil || counters[countedCycles] == 0 {
			continue
		}
		ctas := 1.0
		for _, n := range records[i].Grid {
			ctas *= float64(n)
		}
		all, _ := timing.Counted(d, report.Metrics, ctas)
		out.MostRate = max(out.MostRate, all[timing.BoundDRAM], all[timing.BoundL2], all[timing.BoundLSU])
		measured, known := timing.Counted(d, counters, ctas)
		ours, _ := timing.Counted(d, sameCounters(report.Metrics, counters), ctas)
		measured, ours = measured.Among(known), ours.Among(known)
		top, guess := measured.Nearest(), ours.Nearest()
		near := measured[guess] >= timing.Tie*measured[top]
		out.Nearest.Add(guess == top)
		out.Near.Add(near)
		a, b := measured.Bound(), ours.Bound()
		out.Bound.Add(a == b || near && a != timing.BoundLatency && b != timing.BoundLatency)
	}
	return out
}

// sameCounters are our counters that were measured, too.
func sameCounters(ours, measured map[string]float64) map[string]float64 {
	out := make(map[string]float64, len(measured))
	for name := range measured {
		if v, ok := ours[name]; ok {
			out[name] = v
		}
	}
	return out
}
