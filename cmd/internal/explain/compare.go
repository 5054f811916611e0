package explain

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/warptune/warptune/cmd/internal/fidelity"
	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/simengine/ideal"
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
	{"bytes read from and written to DRAM", func(r *simengine.Report) float64 {
		return r.Metrics["dram__bytes_read.sum"] + r.Metrics["dram__bytes_write.sum"]
	}, true},
	{"bytes between SMs and L2", betweenL1AndL2, true},
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
	say("%s", c.verdict(x))
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
		changes = append(changes, change{fmt.Sprintf("%s: %s, then %s", strings.ToUpper(f.name[:1])+f.name[1:], scaled(a, unit), scaled(b, unit)), by})
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
	if len(c.Sentences) == 1 {
		say("Nothing that is counted differs by %.0f %% or more.", 100*least)
	}
	return c
}

// verdict says which one is faster, and whether predictions can tell.
func (c *Comparison) verdict(x *Subject) string {
	over := max(c.Ratio, 1/c.Ratio)
	if over <= 1+least/5 {
		return fmt.Sprintf("Both take as long, within %.1f %%.", max(100*(over-1), 0.1))
	}
	text := fmt.Sprintf("The second is %.2f times faster", over)
	if c.Ratio > 1 {
		text = fmt.Sprintf("The second takes %.2f times as long", over)
	}
	if m := fidelity.Expected(x.Arch, x.Report.Level); m.Configs > 0 && m.Ties(over) {
		text += fmt.Sprintf(", which is less than predictions can tell apart (%.1f %%)", 100*m.Share)
	}
	return text + "."
}

// costs says to which mechanisms one of the two loses more: first where that is the slower one.
func (c *Comparison) costs(x, y *Subject) {
	const apart = 1.05
	var first, second []loss
	// That a unit is busy is said of what bounds each, and by what it is busy with.
	seen := map[ideal.Set]bool{ideal.Pipes: true, ideal.L1Bandwidth: true, ideal.L2Bandwidth: true}
	for _, w := range append(slices.Clone(x.WhatIfs), y.WhatIfs...) {
		if _, single := lossWords[w.Without]; !single || seen[w.Without] { // of several that hide each other each is told by itself
			continue
		}
		seen[w.Without] = true
		switch a, b := gainOf(x, w.Without), gainOf(y, w.Without); {
		case a > apart*b:
			first = append(first, loss{w.Without, a, b})
		case b > apart*a:
			second = append(second, loss{w.Without, b, a})
		}
	}
	byGain := func(a, b loss) int { return cmp.Compare(b.gain, a.gain) }
	slices.SortStableFunc(first, byGain)
	slices.SortStableFunc(second, byGain)
	slower, faster, names := first, second, [2]string{"first", "second"}
	if c.Ratio > 1 {
		slower, faster, names = second, first, [2]string{"second", "first"}
	}
	for _, l := range slower {
		c.Sentences = append(c.Sentences, "The "+l.text(names[0], names[1]))
	}
	if len(faster) > 0 {
		c.Sentences = append(c.Sentences, "On the other hand, the "+faster[0].text(names[1], names[0]))
	}
}

// loss is how many times faster the one that loses more to a mechanism would be without, and the other.
type loss struct {
	to          ideal.Set
	gain, other float64
}

// lossWords are mechanisms as what time is lost to.
var lossWords = map[ideal.Set]string{
	ideal.Banks: "bank conflicts", ideal.Coalescing: "uncoalesced accesses", ideal.Constants: "constants that lanes read one after another", ideal.Atomics: "atomics that its CTAs could sum before", ideal.SharedAtomics: "lanes that update one word of shared memory", ideal.L2Atomics: "atomics in L2",
	ideal.L1: "loads that miss L1", ideal.DRAM: "DRAM", ideal.Latency: "the latency of memory", ideal.Dependency: "the latency of arithmetic", ideal.Occupancy: "low occupancy",
	ideal.Spills: "spills", ideal.Divergence: "divergence", ideal.Barriers: "waiting at barriers", ideal.Launch: "launching CTAs", ideal.LocalArrays: "arrays in local memory",
	ideal.Pipes: "a busy arithmetic pipe", ideal.L1Bandwidth: "the bandwidth of L1 and shared memory", ideal.L2Bandwidth: "the bandwidth of L2",
	ideal.CTAWork: "what each CTA does once",
}

// text says what one of two loses, and the other.
func (l *loss) text(more, less string) string {
	text := fmt.Sprintf("%s loses more to %s: if that cost nothing, it would be %.2f times faster", more, lossWords[l.to], l.gain)
	if l.other >= leastGain {
		return text + fmt.Sprintf(", the %s %.2f times.", less, l.other)
	}
	return text + fmt.Sprintf(", the %s no faster.", less)
}
