// Package explain says in sentences why a configuration is as fast as it is, what would help and by how much, and what
// changed between two. It reads reports and what-ifs, and evaluates nothing.
package explain

import (
	"fmt"
	"strings"

	"github.com/warptune/warptune/cmd/internal/evaluate"
	"github.com/warptune/warptune/cmd/internal/fidelity"
	"github.com/warptune/warptune/search"
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
	Caps    []evaluate.CapTrial // larger register caps
	Arch    *arch.Descriptor
	Threads int                      // of a CTA
	CTAs    int64                    // of the grid
	Source  func(line string) string // the text of a source line, "" where it is not known
	Config  search.Config            // the parameters
}

// Explanation is what is to be said of a configuration.
type Explanation struct {
	Headline string `json:"headline"`
	Timing   string `json:"timing"` // of which time it is
	// Certainty is how far to trust it.
	Certainty string    `json:"certainty"`
	Rates     []Rate    `json:"rates"`
	Findings  []Finding `json:"findings"`
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
	all := findings(s)
	return &Explanation{Headline: headline(s, all), Timing: timed(s), Certainty: certainty(s), Rates: rates(s), Findings: all}
}

// headline is the time and what bounds it. Where no unit does, and one finding is most of the time, it says so: latency is
// what is seen of it.
func headline(s *Subject, all []Finding) string {
	const most = 2 // times faster
	text := fmt.Sprintf("%s on %s, %s", plot.Microseconds(s.Report.TimeUS), s.Arch.Title, Bound(s.Report))
	if s.Report.Bound != s.Report.Nearest && len(all) > 0 && all[0].Gain >= most && all[0].Topic != ideal.Latency.String() {
		text += "; most of the time is that of finding 1"
	}
	return text
}

// Bound is what bounds a launch, in words.
func Bound(r *simengine.Report) string {
	units := r.NearestUnits()
	if r.Bound == r.Nearest && len(units) > 0 {
		text := fmt.Sprintf("bound by %s, at %s of its peak", UnitWords(r.Bound), percent(units[0].Value))
		if len(units) > 1 {
			text += fmt.Sprintf(", with %s at %s", UnitWords(units[1].Name), percent(units[1].Value))
		}
		return text
	}
	text := "bound by " + BoundWords(r.BoundText())
	if len(units) > 0 {
		text += fmt.Sprintf(": no unit comes to %.0f %% of its peak, the nearest is %s, at %s", 100*timing.BoundFrom, UnitWords(units[0].Name), percent(units[0].Value))
	}
	return text
}

// leastSampling is the error from which on it is worth a sentence that a time is extrapolated.
const leastSampling = 0.01

// certainty is how far the time is to be trusted.
func certainty(s *Subject) string {
	m := fidelity.Expected(s.Arch, s.Report.Level)
	text := "How near such predictions are was not measured."
	if m.Configs > 0 {
		text = m.Sentence()
	}
	if e := s.Report.ErrorShare; e >= leastSampling {
		text += fmt.Sprintf(" This time is extrapolated from %d simulated CTAs of %s and may be off by another %.0f %%.", s.Report.SampledCTAs, grouped(s.CTAs), 100*e)
	}
	return text
}

// timed says how the headline's time and the profiler's differ.
func timed(s *Subject) string {
	r, gap := s.Report, s.Arch.LaunchGapUS
	text := fmt.Sprintf("The time is from the start of a launch to the start of the next, which follows at once and finds the caches as they were left: %s on the GPU (gpu__time_duration.sum) and %s between.",
		plot.Microseconds(r.TimeUS-gap), plot.Microseconds(gap))
	if r.Migration != nil {
		text += " " + migrated(r.Migration)
	}
	return text
}

// migrated says what managed memory adds to the first launch.
func migrated(m *simengine.Migration) string {
	var parts []string
	for _, b := range m.Buffers {
		done := "read"
		if b.Stored {
			done = "written"
		}
		where := "from the host"
		if b.From == simengine.ManagedNowhere.String() {
			where = "new pages"
		}
		parts = append(parts, fmt.Sprintf("%s %s %s, %s", Bytes(float64(b.Bytes)), b.Name, done, where))
	}
	return fmt.Sprintf("The first launch takes %s, %.1f %% of it for pages of managed memory (%s); a launch after the host has touched them again takes as long. Measured ones took 0.7 to 1.3 times what was predicted, on three hosts.",
		plot.Microseconds(m.FirstLaunchUS), 100*m.Share, strings.Join(parts, "; "))
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
