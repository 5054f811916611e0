// Package explain says in sentences why a configuration is as fast as it is, what would help and by how much, and what
// changed between two. It reads reports and what-ifs, and evaluates nothing.
package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/warptune/warptune/cmd/internal/evaluate"
	"github.com/warptune/warptune/cmd/internal/fidelity"
	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/simengine/ideal"
	"github.com/warptune/warptune/simengine/timing"
	"github.com/warptune/warptune/tuner/plot"
)

// Subject is a configuration to explain.
type Subject struct {
	Report  *simengine.Report
	WhatIfs []evaluate.WhatIf
	Arch    *arch.Descriptor
	Threads int                      // of a CTA
	CTAs    int64                    // of the grid
	Source  func(line string) string // the text of a source line, "" where it is not known
}

// Explanation is what is to be said of a configuration.
type Explanation struct {
	Headline string    `json:"headline"`
	Timing   string    `json:"timing"` // of which time it is
	Rates    []Rate    `json:"rates"`
	Findings []Finding `json:"findings"`
}

// Finding is a cost, what it comes of and what would help.
type Finding struct {
	Topic string `json:"topic"`
	// Line is where, "" where it is nowhere in particular; Text the source there.
	Line string `json:"line,omitempty"`
	Text string `json:"text,omitempty"`
	// Evidence is what is seen, Remedy what usually helps.
	Evidence string `json:"evidence"`
	Remedy   string `json:"remedy"`
	// TimeUS is the time without it, microseconds, and Gain how many times faster that is; 0: not known. Estimated says
	// that no machine without it was simulated.
	TimeUS    float64 `json:"time_us,omitempty"`
	Gain      float64 `json:"times_faster,omitempty"`
	Estimated bool    `json:"estimated,omitempty"`
}

// Sentence is a finding in words.
func (f *Finding) Sentence() string {
	var sb strings.Builder
	if f.Line != "" {
		sb.WriteString(lineName(f.Line))
		if f.Text != "" {
			fmt.Fprintf(&sb, " (%s)", f.Text)
		}
		sb.WriteString(": ")
	}
	sb.WriteString(f.Evidence)
	if f.Remedy != "" {
		sb.WriteString(". " + f.Remedy)
	}
	if f.Gain > 0 {
		about := ""
		if f.Estimated {
			about = "about "
		}
		fmt.Fprintf(&sb, ". %s: %s%s, %.2f times faster", cmp.Or(ifs[f.Topic], "Without it"), about, plot.Microseconds(f.TimeUS), f.Gain)
	}
	return sb.String() + "."
}

// ifs are what-ifs in words, by topic.
var ifs = map[string]string{
	ideal.Banks.String(): "Without conflicts", ideal.Coalescing.String(): "If it were coalesced", ideal.Constants.String(): "If lanes did not wait for each other",
	ideal.Atomics.String(): "If they did not meet", ideal.L1.String(): "If L1 had all of it", ideal.DRAM.String(): "If L2 had all of it", ideal.Latency.String(): "If memory answered at once",
	ideal.Dependency.String(): "If arithmetic took a cycle", ideal.Occupancy.String(): "With as many warps as fit an SM", ideal.Spills.String(): "Without spills",
	ideal.Divergence.String(): "With lanes regrouped", ideal.Barriers.String(): "If nobody waited", ideal.Launch.String(): "If that took no time", "tail": "If SMs shared it evenly",
}

// lineName is a line in a sentence.
func lineName(line string) string {
	if strings.HasPrefix(line, "PTX line") {
		return line
	}
	file, number, ok := strings.Cut(line, ":")
	if !ok {
		return line
	}
	return "line " + number + " of " + file
}

// leastGain is the gain from which on a mechanism is worth a finding: what no measurement tells from nothing is none.
const leastGain = 1.02

// Explain explains a configuration.
func Explain(s *Subject) *Explanation {
	x := &Explanation{Headline: headline(s), Timing: timed(s), Rates: rates(s)}
	for _, w := range s.WhatIfs {
		if w.Gain < leastGain || w.Without == ideal.L1 && readOnce(s.Report) {
			continue
		}
		if f, ok := topics[w.Without]; ok {
			finding := f(s)
			finding.Topic, finding.TimeUS, finding.Gain = w.Without.String(), w.TimeUS, w.Gain
			if finding.Line != "" && s.Source != nil {
				finding.Text = s.Source(finding.Line)
			}
			x.Findings = append(x.Findings, finding)
		}
	}
	for _, f := range []func(*Subject) (Finding, bool){tail, localArrays, spillsAnyway, computeBound} {
		finding, ok := f(s)
		if !ok || slices.ContainsFunc(x.Findings, func(o Finding) bool { return o.Topic == finding.Topic }) {
			continue
		}
		if finding.Line != "" && s.Source != nil {
			finding.Text = s.Source(finding.Line)
		}
		x.Findings = append(x.Findings, finding)
	}
	slices.SortStableFunc(x.Findings, func(a, b Finding) int {
		switch {
		case a.Gain > b.Gain:
			return -1
		case a.Gain < b.Gain:
			return 1
		}
		return 0
	})
	return x
}

// headline is the time, what bounds it and how sure that is.
func headline(s *Subject) string {
	r := s.Report
	return fmt.Sprintf("%s on %s, %s; %s", plot.Microseconds(r.TimeUS), s.Arch.Title, Bound(r), sure(s))
}

// boundNames are timing's bounds in words.
var boundNames = map[string]string{
	"issue": "instruction issue", "alu": "the integer pipe", "fma": "the fp32 pipe", "imad": "the pipe of integer multiplications", "fp64": "the fp64 pipe",
	"half": "the half-precision pipe", "tensor": "tensor cores", "xu": "the special-function unit",
	"lsu": "L1 and shared memory (load/store unit)", "texture": "the texture unit", "constant": "the constant cache", "l2": "L2 bandwidth", "atomics": "atomics in L2", "dram": "DRAM bandwidth", "launch": "launching CTAs",
}

// stallNames are stalls in words.
var stallNames = map[string]string{
	"wait": "results of arithmetic", "short_scoreboard": "shared memory or the special-function unit", "long_scoreboard": "data from L1, L2 or DRAM", "imc_miss": "constants",
	"lg_throttle": "room in the queue of global and local memory", "mio_throttle": "room in the queue of shared memory and its like", "math_pipe_throttle": "an arithmetic pipe",
	"barrier": "barriers", "membar": "memory fences", "branch_resolving": "branches", "no_instruction": "instructions", "idle": "work: SMs or schedulers have no warp",
}

// Bound is what bounds a launch, in words.
func Bound(r *simengine.Report) string {
	units := r.NearestUnits()
	if r.Bound == r.Nearest && len(units) > 0 {
		text := fmt.Sprintf("bound by %s, at %.0f %% of its peak", boundNames[r.Bound], 100*units[0].Value)
		if len(units) > 1 {
			text += fmt.Sprintf(", with %s at %.0f %%", boundNames[units[1].Name], 100*units[1].Value)
		}
		return text
	}
	text := "bound by latency"
	if why := stallNames[r.Stall]; why != "" {
		text += ", waiting for " + why
	}
	if len(units) > 0 {
		text += fmt.Sprintf(": no unit comes to %.0f %% of its peak, the nearest is %s at %.0f %%", 100*timing.BoundFrom, boundNames[units[0].Name], 100*units[0].Value)
	}
	return text
}

// sure is how far the time is to be trusted.
func sure(s *Subject) string {
	m := fidelity.Expected(s.Arch, s.Report.Level)
	var text string
	if m.Configs > 0 {
		text = fmt.Sprintf("sure to tell two configurations apart where they differ by %.0f %%, by %d measured ones of %s", 100*m.Share, m.Configs, strings.Join(m.Of, ", "))
		if m.Borrowed {
			text += ", none of this GPU or its like"
		}
	} else {
		text = "how near such times are was not measured"
	}
	if e := s.Report.ErrorShare; e > 0 {
		text += fmt.Sprintf("; sampling adds %.1f %%", 100*e)
	}
	return text
}

// timed says how the headline's time and the profiler's differ.
func timed(s *Subject) string {
	r, gap := s.Report, s.Arch.LaunchGapUS
	return fmt.Sprintf("From one launch's start to the next one's, back to back; the GPU works for %s of that (gpu__time_duration.sum), %s pass between launches.",
		plot.Microseconds(r.TimeUS-gap), plot.Microseconds(gap))
}

// gainOf is the gain without a mechanism, 1 where none was looked for.
func gainOf(s *Subject, m ideal.Set) float64 {
	for _, w := range s.WhatIfs {
		if w.Without == m {
			return max(w.Gain, 1)
		}
	}
	return 1
}
