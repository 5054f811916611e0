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
		report := results[i].Profiled
		if report == nil {
			continue
		}
		for name, measured := range counted(&records[i]) {
			ours, ok := simulated(name, report.Metrics)
			if !ok {
				continue
			}
			errors[name] = append(errors[name], counterError(name, ours, measured))
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

// dramBytes is all that DRAM moves, in Nsight Compute's name.
const dramBytes = "dram__bytes.sum"

// counted is a record's counters by name, with the sum of what DRAM reads and
// writes where both were counted.
func counted(r *record.Record) map[string]float64 {
	out := map[string]float64{}
	for name, c := range r.Counters {
		out[name] = c.Value
	}
	read, ok := out["dram__bytes_read.sum"]
	written, also := out["dram__bytes_write.sum"]
	if ok && also {
		out[dramBytes] = read + written
	}
	return out
}

func simulated(name string, metrics map[string]float64) (float64, bool) {
	if name == dramBytes {
		return metrics["dram__bytes_read.sum"] + metrics["dram__bytes_write.sum"], true
	}
	v, ok := metrics[name]
	return v, ok
}

// stallPrefix and stallSuffix enclose a stall reason in a counter's name.
const (
	stallPrefix = "smsp__average_warps_issue_stalled_"
	stallSuffix = "_per_issue_active.ratio"
)

// topStall says whether the stall reason that warps wait for longest is the same
// on both sides, of the reasons that were counted; known is false where fewer
// than two were.
func topStall(measured, ours map[string]float64) (same, known bool) {
	var names []string
	for name := range measured {
		if _, ok := ours[name]; ok && strings.HasPrefix(name, stallPrefix) && strings.HasSuffix(name, stallSuffix) {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	top := func(of map[string]float64) (best string) {
		for _, name := range names {
			if best == "" || of[name] > of[best] {
				best = name
			}
		}
		return best
	}
	return top(measured) == top(ours), len(names) > 1
}

func compareStalls(records []record.Record, results []evaluate.Result) (s score.Share) {
	for i := range records {
		if results[i].Profiled == nil {
			continue
		}
		if same, known := topStall(counted(&records[i]), results[i].Profiled.Metrics); known {
			s.Add(same)
		}
	}
	return s
}

func counterError(name string, ours, measured float64) float64 {
	diff := math.Abs(ours - measured)
	if _, points := tolerance(name); points {
		return diff
	}
	return diff / max(math.Abs(measured), atLeast)
}
