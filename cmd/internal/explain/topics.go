package explain

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/simengine/ideal"
)

// topics say what is seen of each mechanism, where, and what helps.
var topics = map[ideal.Set]func(*Subject) Finding{
	ideal.Banks: banks, ideal.Coalescing: coalescing, ideal.Constants: constants, ideal.L1: missesL1, ideal.DRAM: dram,
	ideal.Atomics: globalAtomics, ideal.SharedAtomics: sharedAtomics, ideal.L2Atomics: l2Atomics,
	ideal.Latency: latency, ideal.Dependency: dependency, ideal.Occupancy: occupancy, ideal.Spills: spills, ideal.LocalArrays: localArrays,
	ideal.Divergence: divergence, ideal.Barriers: barriers, ideal.Launch: launch, ideal.L1Bandwidth: l1Bandwidth, ideal.L2Bandwidth: l2Bandwidth,
	ideal.CTAWork: ctaWork,
}

// place is a line and what it does of a kind.
type place struct {
	line *simengine.SourceLine
	simengine.MemoryUse
}

// at is the place's line, "" where there is none.
func (p *place) at() string {
	if p.line == nil {
		return ""
	}
	return p.line.Line
}

// worst is the line that has most of what is asked for, of uses whose kind has one of the prefixes.
func worst(r *simengine.Report, cost func(*simengine.MemoryUse) float64, prefixes ...string) (p place) {
	most := 0.0
	for i := range r.Lines {
		for j := range r.Lines[i].Memory {
			m := &r.Lines[i].Memory[j]
			if v := cost(m); v > most && slices.ContainsFunc(prefixes, func(s string) bool { return strings.HasPrefix(m.Kind, s) }) {
				most, p = v, place{&r.Lines[i], *m}
			}
		}
	}
	return p
}

// verb is what a line does to memory.
func verb(kind string) string {
	switch {
	case strings.HasSuffix(kind, "store"):
		return "writes"
	case strings.HasSuffix(kind, "atomic"):
		return "updates"
	}
	return "reads"
}

// number is a mean, without decimals where it has none to speak of.
func number(v float64) string {
	if math.Abs(v-math.Round(v)) < 0.05 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.1f", v)
}

// several is a mean number of things.
func several(v float64, thing string) string {
	if n := number(v); n != "1" {
		return n + " " + thing + "s"
	}
	return "1 " + thing
}

// has reports whether an instruction of a line, or of any line if it is nil, begins with one of the prefixes, guards
// aside.
func has(s *Subject, line *simengine.SourceLine, prefixes ...string) bool {
	for i := range s.Report.Lines {
		l := &s.Report.Lines[i]
		if line != nil && line != l {
			continue
		}
		for _, in := range l.Instructions {
			if slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(opcode(in.PTX), p) }) {
				return true
			}
		}
	}
	return false
}

// opcode is a PTX instruction's, without its guard.
func opcode(text string) string {
	if strings.HasPrefix(text, "@") {
		_, text, _ = strings.Cut(text, " ")
	}
	op, _, _ := strings.Cut(text, " ")
	return op
}

// warps is the warps of the grid.
func (s *Subject) warps() float64 { return float64(s.CTAs) * float64((s.Threads+31)/32) }

// full is the occupancy from which on more warps are no remedy.
const full = 0.9

// moreWarps is advice to have more of them, where there is room.
func (s *Subject) moreWarps(f *Finding) {
	if s.Report.Occupancy < full && gainOf(s, ideal.Occupancy) >= leastGain {
		f.advise(fmt.Sprintf("more warps (occupancy is %.0f %%)", 100*s.Report.Occupancy))
	}
}
