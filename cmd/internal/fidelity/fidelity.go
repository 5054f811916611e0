// Package fidelity compares what the simulator predicts with what hardware
// measured: times within groups, registers, spills, occupancy limiters,
// counters, and what a prediction costs.
//
// It only compares; package evaluate predicts, package score has the formulas.
package fidelity

import (
	"math"
	"regexp"
	"sort"

	"github.com/warptune/warptune/cmd/internal/evaluate"
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/record"
	"github.com/warptune/warptune/tuner/score"
)

// Result is the whole comparison.
type Result struct {
	Arch    string        `json:"arch"`
	Level   string        `json:"level"`
	Engine  string        `json:"engine"`
	Summary score.Summary `json:"summary"`
	Groups  []score.Group `json:"groups"`
	Build   Build         `json:"build"`
	Cost    Cost          `json:"cost"`
	// Counters has one entry per counter that both sides know, by name.
	Counters []Counter `json:"counters,omitempty"`
	// CounterGroups is how often the counters that matter most come near, by group and over all.
	CounterGroups []CounterGroup `json:"counter_groups,omitempty"`
	// TopStall is how often the reason that warps wait for longest agrees, over
	// the profiled records.
	TopStall score.Share `json:"top_stall"`
	// NearStall is how often the reason predicted comes within a tenth of the longest.
	NearStall score.Share `json:"near_stall"`
	// Bounds is how often what bounds them agrees.
	Bounds Bounds `json:"bounds"`
	// Failures has one example of each message, most frequent first.
	Failures []Failure `json:"failures,omitempty"`
}

// Build is the agreement on what the assembler and the launch rules decide.
type Build struct {
	RegistersExact    score.Share `json:"registers_exact"`
	RegistersWithin10 score.Share `json:"registers_within_10_percent"`
	Spill             score.Share `json:"spill"`
	Limiter           score.Share `json:"limiter"`
}

// Cost is the wall time of one configuration on one slot, milliseconds. It is
// this machine's, and the only part of a Result that differs from run to run.
type Cost struct {
	MedianMS float64 `json:"median_ms"`
	P99MS    float64 `json:"p99_ms"`
	MaxMS    float64 `json:"max_ms"`
}

// Failure is a message that configurations failed with.
type Failure struct {
	Validity string `json:"validity"`
	Message  string `json:"message"`
	Count    int    `json:"count"`
	Line     int    `json:"line"` // of the first such record
}

// Compare judges results against the records they predict.
func Compare(records []record.Record, results []evaluate.Result, d *arch.Descriptor) Result {
	out := Result{Arch: d.Name}
	pairs := map[string][]score.Pair{}
	var order []string
	var costs []float64
	for i := range records {
		rec, res := &records[i], &results[i]
		costs = append(costs, float64(res.Cost.Nanoseconds())/1e6)
		out.Build.add(rec, &res.Outcome, d)
		if rec.TimeUS == nil {
			continue
		}
		key := rec.GroupKey()
		if _, ok := pairs[key]; !ok {
			order = append(order, key)
		}
		predicted := math.Inf(1)
		if res.Outcome.Validity == tuner.Correct {
			predicted = res.Outcome.TimeUS
		}
		pairs[key] = append(pairs[key], score.Pair{Measured: rec.TimeUS.Median, Predicted: predicted})
	}
	for _, key := range order {
		out.Groups = append(out.Groups, score.Score(key, pairs[key]))
	}
	out.Summary = score.Summarise(out.Groups)
	sort.Float64s(costs)
	out.Cost = Cost{score.Quantile(costs, 0.5), score.Quantile(costs, 0.99), score.Quantile(costs, 1)}
	out.Counters = compareCounters(records, results)
	out.CounterGroups = compareGroups(records, results)
	stalls := compareStalls(records, results)
	out.TopStall, out.NearStall = stalls.Same, stalls.Near
	out.Bounds = compareBounds(records, results, d)
	out.Failures = failures(records, results)
	return out
}

// add compares one record's registers, spills and limiter with the measured.
func (b *Build) add(rec *record.Record, o *tuner.Outcome, d *arch.Descriptor) {
	if rec.Registers == 0 || o.Registers == 0 {
		return
	}
	diff := math.Abs(float64(o.Registers - rec.Registers))
	b.RegistersExact.Add(diff == 0)
	b.RegistersWithin10.Add(diff <= 0.1*float64(rec.Registers))
	b.Spill.Add((o.SpillBytes > 0) == (rec.LocalBytes > 0))
	if limiter := measuredLimiter(rec, o, d); limiter != "" {
		b.Limiter.Add(limiter == o.Limiter)
	}
}

// measuredLimiter is what the CUDA rules say limits a configuration with the
// registers and shared memory it really had; "" when the record lacks them.
func measuredLimiter(rec *record.Record, o *tuner.Outcome, d *arch.Descriptor) string {
	if len(rec.Block) == 0 {
		return ""
	}
	product := func(of []int) int {
		p := 1
		for _, n := range of {
			p *= n
		}
		return p
	}
	k := arch.Kernel{Threads: product(rec.Block), Registers: rec.Registers, Shared: rec.StaticSmem + rec.DynamicSmem, Cluster: product(rec.Cluster)}
	occ, err := arch.Occupy(d, k, o.CarveOut)
	if err != nil {
		return ""
	}
	return occ.Limiter.String()
}

// What of a message tells apart what is alike: where in PTX an instruction stands, and its operands.
var (
	position = regexp.MustCompile(`( at )?[^ :]+\.ptx:\d+:\d+(: )?`)
	operands = regexp.MustCompile("(`[^` ]+) [^`]*`")
)

// alike is a message without what differs from one instruction to the next.
func alike(message string) string {
	return operands.ReplaceAllString(position.ReplaceAllString(message, ""), "$1`")
}

// failures counts messages, those that are alike once.
func failures(records []record.Record, results []evaluate.Result) []Failure {
	index := map[string]int{}
	var out []Failure
	for i := range results {
		o := &results[i].Outcome
		if o.Validity == tuner.Correct {
			continue
		}
		key := o.Validity.String() + alike(o.Message)
		at, ok := index[key]
		if !ok {
			at = len(out)
			index[key] = at
			out = append(out, Failure{Validity: o.Validity.String(), Message: o.Message, Line: records[i].Line})
		}
		out[at].Count++
	}
	sort.SliceStable(out, func(a, b int) bool { return out[a].Count > out[b].Count })
	return out
}
