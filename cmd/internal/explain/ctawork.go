package explain

import (
	"fmt"
	"math"
	"strings"

	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/simengine/ideal"
)

// ctaWork is what each CTA does once, however many elements its threads load.
func ctaWork(s *Subject) Finding {
	line, share := onceAt(s.Report)
	f := Finding{Evidence: "what each CTA does once takes part of the time, for few elements a thread"}
	if line != nil {
		f.Line = line.Line
		f.Evidence = fmt.Sprintf("what each CTA does once is %.0f %% of the kernel's instructions, most of them here, for only %s a thread", 100*share, s.loads())
	}
	f.advice = []advice{{"more elements a thread before this, and so fewer CTAs", +1}}
	return f
}

// onceAt is the line with most of the instructions that a CTA executes once, and the share of the kernel's that they are.
func onceAt(r *simengine.Report) (line *simengine.SourceLine, share float64) {
	all, once, most := 0.0, 0.0, 0.0
	for i := range r.Lines {
		here := 0.0
		for _, in := range r.Lines[i].Instructions {
			for _, m := range in.Machine {
				all += m.WarpInstructions
				if in.OncePerCTA {
					here += m.WarpInstructions
				}
			}
		}
		once += here
		if here > most {
			most, line = here, &r.Lines[i]
		}
	}
	return line, once / math.Max(all, 1)
}

// loads is how many loads of device memory a thread makes, in words.
func (s *Subject) loads() string {
	requests := 0.0
	for i := range s.Report.Lines {
		for _, m := range s.Report.Lines[i].Memory {
			if m.Kind == "global load" || strings.HasSuffix(m.Kind, "copy") {
				requests += m.Requests
			}
		}
	}
	return several(requests/math.Max(s.warps(), 1), "load") + " from global memory"
}

// fewerCTAs reports whether a finding of fewer CTAs is said by another with the same remedy: launching them is part of
// what each does once, and so is adding its results to those of others.
func fewerCTAs(s *Subject, m ideal.Set) bool {
	const alike = 1.02
	switch m {
	case ideal.Launch:
		return gainOf(s, ideal.CTAWork) >= leastGain && gainOf(s, ideal.CTAWork) >= gainOf(s, ideal.Launch)*alike
	case ideal.CTAWork:
		return gainOf(s, ideal.CTAWork) < gainOf(s, ideal.Launch)*alike || gainOf(s, ideal.L2Atomics) >= leastGain && !saidOtherwise(s, ideal.L2Atomics)
	}
	return false
}
