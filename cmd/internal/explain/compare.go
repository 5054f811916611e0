package explain

import (
	"fmt"
	"math"
	"slices"

	"github.com/warptune/warptune/simengine"
)

// Comparison is what is different between two configurations, and why it matters.
type Comparison struct {
	Ratio     float64  `json:"time_ratio"` // the second's time over the first's
	Sentences []string `json:"sentences"`
}

// counted are figures in which configurations differ for reasons that have names.
var counted = []struct {
	name  string
	of    func(*simengine.Report) float64
	bytes bool
}{
	{"warp instructions", metric("smsp__inst_executed.sum"), false},
	{"bytes from and to DRAM", func(r *simengine.Report) float64 {
		return r.Metrics["dram__bytes_read.sum"] + r.Metrics["dram__bytes_write.sum"]
	}, true},
	{"bytes from and to L2", func(r *simengine.Report) float64 {
		return sectorBytes * (r.Metrics["lts__t_sectors_op_read.sum"] + r.Metrics["lts__t_sectors_op_write.sum"])
	}, true},
	{"sectors of loads from global memory", metric("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"), false},
	{"sectors of stores to global memory", metric("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"), false},
	{"bank conflicts", func(r *simengine.Report) float64 {
		return r.Metrics["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"] + r.Metrics["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"]
	}, false},
	{"wavefronts of L1 and shared memory", metric("l1tex__data_pipe_lsu_wavefronts.sum"), false},
	{"active lanes of an instruction", func(r *simengine.Report) float64 {
		return r.Metrics["smsp__thread_inst_executed.sum"] / math.Max(r.Metrics["smsp__inst_executed.sum"], 1)
	}, false},
	{"registers a thread", func(r *simengine.Report) float64 { return float64(r.Registers) }, false},
	{"bytes spilled a thread", func(r *simengine.Report) float64 { return float64(r.SpillBytes) }, false},
	{"CTAs on an SM", func(r *simengine.Report) float64 { return float64(r.CTAsPerSM) }, false},
	{"occupancy, percent", func(r *simengine.Report) float64 { return 100 * r.Occupancy }, false},
}

func metric(name string) func(*simengine.Report) float64 {
	return func(r *simengine.Report) float64 { return r.Metrics[name] }
}

// least is the share by which a figure must differ to be named.
const least = 0.05

// Compare says what changed from x to y, and why it matters.
func Compare(x, y *Subject) *Comparison {
	c := &Comparison{Ratio: y.Report.TimeUS / x.Report.TimeUS}
	say := func(format string, args ...any) { c.Sentences = append(c.Sentences, fmt.Sprintf(format, args...)) }
	switch {
	case c.Ratio < 1-least/5:
		say("The second is %.2f times faster.", 1/c.Ratio)
	case c.Ratio > 1+least/5:
		say("The second is %.2f times slower.", c.Ratio)
	default:
		say("Both take as long: the second %.3f times the first's time.", c.Ratio)
	}
	if a, b := Bound(x.Report), Bound(y.Report); x.Report.BoundText() != y.Report.BoundText() {
		say("The first is %s; the second is %s.", a, b)
	}
	c.costs(x, y)
	type change struct {
		text string
		by   float64
	}
	var changes []change
	for _, f := range counted {
		a, b := f.of(x.Report), f.of(y.Report)
		if math.Abs(b-a) <= least*math.Max(a, b) {
			continue
		}
		unit := ""
		if f.bytes {
			unit = "B"
		}
		by := math.Abs(math.Log((b + 1) / (a + 1)))
		changes = append(changes, change{fmt.Sprintf("%s: %s, then %s", f.name, scaled(a, unit), scaled(b, unit)), by})
	}
	slices.SortStableFunc(changes, func(a, b change) int {
		if a.by > b.by {
			return -1
		} else if a.by < b.by {
			return 1
		}
		return 0
	})
	for _, ch := range changes {
		say("%s.", ch.text)
	}
	return c
}

// costs says which mechanisms cost one of the two and the other less.
func (c *Comparison) costs(x, y *Subject) {
	const apart = 1.05
	for _, w := range append(slices.Clone(x.WhatIfs), y.WhatIfs...) {
		a, b := gainOf(x, w.Without), gainOf(y, w.Without)
		var text string
		switch {
		case a > apart*b:
			text = fmt.Sprintf("It matters because of %s: without, the first would be %.2f times faster, the second %.2f.", w.Without, a, b)
		case b > apart*a:
			text = fmt.Sprintf("The second loses more to %s: without, it would be %.2f times faster, the first %.2f.", w.Without, b, a)
		default:
			continue
		}
		if !slices.Contains(c.Sentences, text) {
			c.Sentences = append(c.Sentences, text)
		}
	}
}
