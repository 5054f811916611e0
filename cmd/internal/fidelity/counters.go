package fidelity

import (
	"math"
	"sort"
	"strings"

	"github.com/warptune/warptune/cmd/internal/evaluate"
	"github.com/warptune/warptune/tuner/record"
	"github.com/warptune/warptune/tuner/score"
)

// Counter is the agreement on one hardware counter over the profiled records.
type Counter struct {
	Name    string `json:"name"`
	Configs int    `json:"configs"`
	// Within is the share of configurations within the tolerance: points for
	// percentages, a relative error for counts.
	Tolerance float64     `json:"tolerance"`
	Points    bool        `json:"points"` // the tolerance is in points
	Within    score.Share `json:"within"`
	// MedianError and WorstError are in the tolerance's unit.
	MedianError float64 `json:"median_error"`
	WorstError  float64 `json:"worst_error"`
}

// tolerance is how near a counter must come to count as agreeing.
func tolerance(name string) (value float64, points bool) {
	switch {
	case strings.HasPrefix(name, "sm__warps_active"):
		return 10, true
	case strings.HasSuffix(name, ".pct"):
		return 5, true
	case strings.HasPrefix(name, "launch__"):
		return 0, false
	case strings.HasPrefix(name, "l1tex__") && !strings.Contains(name, "hit"):
		return 0.02, false
	}
	return 0.10, false
}

// atLeast is the size below which a count is compared as if it were this big:
// a handful of sectors more or less of a small count means nothing.
const atLeast = 64

func compareCounters(records []record.Record, results []evaluate.Result) []Counter {
	errors := map[string][]float64{}
	for i := range records {
		report := results[i].Report
		if report == nil {
			continue
		}
		for name, measured := range records[i].Counters {
			ours, ok := report.Metrics[name]
			if !ok {
				continue
			}
			errors[name] = append(errors[name], counterError(name, ours, measured.Value))
		}
	}
	var out []Counter
	for name, es := range errors {
		sort.Float64s(es)
		c := Counter{Name: name, Configs: len(es), MedianError: score.Quantile(es, 0.5), WorstError: score.Quantile(es, 1)}
		c.Tolerance, c.Points = tolerance(name)
		for _, e := range es {
			c.Within.Add(e <= c.Tolerance)
		}
		out = append(out, c)
	}
	sort.Slice(out, func(a, b int) bool { return out[a].Name < out[b].Name })
	return out
}

func counterError(name string, ours, measured float64) float64 {
	diff := math.Abs(ours - measured)
	if _, points := tolerance(name); points {
		return diff
	}
	return diff / max(math.Abs(measured), atLeast)
}
