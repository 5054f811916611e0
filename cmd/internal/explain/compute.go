package explain

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/simengine/ideal"
)

// machineKinds are the kinds of machine instructions that a unit executes.
var machineKinds = map[string][]string{
	"alu": {"alu", "vote"}, "fma": {"fma", "fmaheavy", "imadwide", "imadhigh"}, "imad": {"fmaheavy", "imadwide", "imadhigh"}, "fp64": {"fp64"}, "half": {"half"},
	"tensor": {"tensor", "tensorshort", "tensorsingle", "tensorsingleshort", "tensordouble", "wgmma"}, "xu": {"mufu", "xu"},
}

// computeBound is a kernel that an arithmetic pipe or issue bounds.
func computeBound(s *Subject) (Finding, bool) {
	r := s.Report
	kinds, pipe := machineKinds[r.Bound]
	if !pipe && r.Bound != "issue" || len(r.Use) == 0 {
		return Finding{}, false
	}
	f := Finding{Topic: topicCompute, Evidence: fmt.Sprintf("compute bound: %s works at %s of its peak", UnitWords(r.Bound), percent(r.Use[0].Value))}
	line, share := busiest(r, kinds)
	if line != nil {
		f.Line = line.Line
		f.Evidence += fmt.Sprintf("; this line issues %.0f %% of its instructions: %s", 100*share, lineMix(line, kinds))
	}
	s.computeAdvice(&f, line)
	if w, _, ok := whatIf(s, ideal.Pipes); ok && pipe {
		f.gains(s, &w)
		f.With, f.Beyond = nil, "instructions that are left out save their issue slots too"
	}
	if r.Bound == "issue" {
		f.advise("fewer instructions of any kind: time goes down in proportion")
	}
	return f, true
}

// busiest is the line that issues most instructions of kinds, of all kinds where there are none, and its share of them.
func busiest(r *simengine.Report, kinds []string) (line *simengine.SourceLine, share float64) {
	most, all := 0.0, 0.0
	for i := range r.Lines {
		here := 0.0
		for _, in := range r.Lines[i].Instructions {
			for _, m := range in.Machine {
				if kinds == nil || slices.Contains(kinds, m.Kind) {
					here += m.WarpInstructions
				}
			}
		}
		all += here
		if here > most {
			most, line = here, &r.Lines[i]
		}
	}
	return line, most / math.Max(all, 1)
}

// Instructions by what makes them cheaper.
var (
	fast     = []string{"sin.approx", "cos.approx", "ex2.approx", "lg2.approx", "rcp.approx", "rsqrt.approx", "sqrt.approx", "tanh.approx", "div.approx"}
	exact    = []string{"div.rn", "div.rz", "sqrt.rn", "rcp.rn", "div.full"}
	converts = []string{"cvt."}
	selects  = []string{"setp", "selp"}
	extremes = []string{"min", "max"}
	indexing = []string{"add.s", "add.u", "mad.lo", "mul.lo", "mul.wide", "mad.wide", "shl", "shr", "and", "rem", "div.s", "div.u"}
)

// computeAdvice is what makes the instructions of a line fewer on the unit that bounds, by what they are.
func (s *Subject) computeAdvice(f *Finding, line *simengine.SourceLine) {
	some := func(prefixes []string) bool { return line == nil || has(s, line, prefixes...) }
	many := func(prefixes ...string) bool { return line == nil || partOfLine(line, prefixes) >= worthAdvice }
	switch s.Report.Bound {
	case "xu":
		if some(exact) {
			f.advise("fast approximations (__fdividef, __frsqrt_rn, -use_fast_math) of divisions and roots")
		}
		if some(fast) && line != nil {
			f.Evidence += "; " + ops(line, fast) + " are the fast approximations already"
			if idle := useOf(s.Report, "fma"); idle < s.Report.Use[0].Value/2 {
				f.advise(fmt.Sprintf("compute some of them as polynomials on the fp32 pipe, which is at %s", percent(idle)))
			}
			f.advise("compute fewer of them: results that iterations share, recurrences")
		}
		if line == nil || xuConversions(line) {
			f.advise("fewer conversions between types")
		}
	case "alu":
		switch {
		case many(selects...):
			f.advise("fewer comparisons: minimum and maximum instead of comparing and selecting, results that are compared once")
		case many(extremes...):
			f.advise("fewer minima and maxima: what two results have in common is compared once")
		}
		if many(indexing...) {
			f.advise("fewer integer operations: indices that are hoisted from loops or that grow by a constant")
		}
	case "imad":
		f.advise("cheaper indices: hoisted from loops, or growing by a constant", "32-bit indices instead of 64-bit ones")
	case "fma":
		f.advise("fewer operations", "half precision or tensor cores where their precision is enough")
	case "fp64":
		f.advise("fp32 where its precision is enough")
	case "half":
		f.advise("tensor cores")
	case "tensor":
		f.advise("smaller types")
	case "issue":
		if line != nil && has(s, line, "ld.", "st.") && !has(s, line, "ld.global.v", "ld.shared.v", "ld.global.nc.v", "st.global.v") {
			f.advise("wider loads and stores (vectors)")
		}
		if many(indexing...) {
			f.advise("cheaper indices: hoisted from loops, or growing by a constant")
		}
		if loops(line) && many("bra", "setp", "add.s", "add.u") {
			f.advise("unrolling: its loop's counter, comparison and branch are instructions too")
		}
	}
}

// worthAdvice is the part of a line's instructions from which on fewer of a kind are worth advice.
const worthAdvice = 0.15

// partOfLine is the part of a line's machine instructions that come of PTX whose opcodes begin with one of the prefixes.
func partOfLine(line *simengine.SourceLine, prefixes []string) float64 {
	of, all := 0.0, 0.0
	for _, in := range line.Instructions {
		here := slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(opcode(in.PTX), p) })
		for _, m := range in.Machine {
			all += m.WarpInstructions
			if here {
				of += m.WarpInstructions
			}
		}
	}
	return of / math.Max(all, 1)
}

// ops are the opcodes of a line that begin with one of the prefixes, without repetition.
func ops(line *simengine.SourceLine, prefixes []string) string {
	var all []string
	for _, in := range line.Instructions {
		op := opcode(in.PTX)
		for _, p := range prefixes {
			if strings.HasPrefix(op, p) && !slices.Contains(all, p) {
				all = append(all, p)
			}
		}
	}
	return strings.Join(all, ", ")
}

// xuConversions reports whether conversions of a line go through the special-function unit.
func xuConversions(line *simengine.SourceLine) bool {
	return slices.ContainsFunc(line.Instructions, func(in simengine.LineInstruction) bool {
		return strings.HasPrefix(opcode(in.PTX), converts[0]) && slices.ContainsFunc(in.Machine, func(m simengine.MachineInstruction) bool { return m.Kind == "xu" })
	})
}

// loops reports whether a line has a branch that it executes often.
func loops(line *simengine.SourceLine) bool {
	return line != nil && slices.ContainsFunc(line.Instructions, func(in simengine.LineInstruction) bool { return strings.HasPrefix(opcode(in.PTX), "bra") })
}

func useOf(r *simengine.Report, unit string) float64 {
	for _, u := range r.Use {
		if u.Name == unit {
			return u.Value
		}
	}
	return 0
}

// lineMix is the PTX instructions that most machine instructions of kinds (nil: of all) of a line come of, with their
// shares of these.
func lineMix(line *simengine.SourceLine, kinds []string) string {
	sum, total := map[string]float64{}, 0.0
	for _, in := range line.Instructions {
		for _, m := range in.Machine {
			if kinds == nil || slices.Contains(kinds, m.Kind) {
				sum[opcode(in.PTX)] += m.WarpInstructions
				total += m.WarpInstructions
			}
		}
	}
	list := slices.SortedFunc(maps.Keys(sum), func(a, b string) int { return cmp.Or(cmp.Compare(sum[b], sum[a]), cmp.Compare(a, b)) })
	const most = 4
	var texts []string
	for _, op := range list[:min(most, len(list))] {
		texts = append(texts, fmt.Sprintf("%.0f %% %s", 100*sum[op]/math.Max(total, 1), op))
	}
	return strings.Join(texts, ", ")
}
