package explain

import (
	"fmt"

	"github.com/warptune/warptune/cmd/internal/evaluate"
	"github.com/warptune/warptune/simengine/ideal"
	"github.com/warptune/warptune/tuner/plot"
)

func spills(s *Subject) Finding {
	most, f := 0.0, Finding{Evidence: fmt.Sprintf("%d bytes of registers a thread are spilled to local memory", s.Report.SpillBytes)}
	for i := range s.Report.Lines {
		if v := s.Report.Lines[i].SpillLoads + s.Report.Lines[i].SpillStores; v > most {
			most, f.Line = v, s.Report.Lines[i].Line
		}
	}
	if most > 0 {
		f.Evidence += ", here most of all"
	}
	const mostRegisters = 255 // of a thread
	switch best, ok := bestCap(s.Caps); {
	case ok:
		f.advise(capAdvice(best, s))
	case s.Report.Registers < mostRegisters:
		f.advise(fmt.Sprintf("a larger register cap (it is %d)", s.Report.Registers))
	}
	f.advise("smaller tiles", "shorter lives of values")
	return f
}

// bestCap is the fastest of the caps that were tried, the smallest of those that are as fast.
func bestCap(trials []evaluate.CapTrial) (best evaluate.CapTrial, ok bool) {
	const alike = 1.005
	for _, c := range trials {
		if !ok || c.TimeUS*alike < best.TimeUS {
			best, ok = c, true
		}
	}
	return best, ok
}

// capAdvice is advice to take a cap.
func capAdvice(c evaluate.CapTrial, s *Subject) string {
	text := fmt.Sprintf("a larger register cap (it is %d): %s takes %s, %.2f times faster", s.Report.Registers, c.Parameter, plot.Microseconds(c.TimeUS), s.Report.TimeUS/c.TimeUS)
	if c.SpillBytes > 0 {
		text += fmt.Sprintf(", and still spills %d bytes", c.SpillBytes)
	}
	if len(s.Caps) > 1 {
		text += fmt.Sprintf(" (the fastest of %d simulated)", len(s.Caps))
	}
	return text
}

// spillsAnyway is spills that cost nothing to speak of.
func spillsAnyway(s *Subject) (Finding, bool) {
	if s.Report.SpillBytes == 0 {
		return Finding{}, false
	}
	f := spills(s)
	f.Topic, f.Remedy, f.advice = ideal.Spills.String(), "Without them it is hardly faster", nil
	return f, true
}

// localArrays is variables of a thread's own in local memory.
func localArrays(s *Subject) Finding {
	if len(s.Report.LocalArrays) == 0 {
		return Finding{Evidence: "variables of each thread are in local memory"}
	}
	a := s.Report.LocalArrays[0]
	f := Finding{Evidence: fmt.Sprintf("a variable of %d bytes of each thread is in local memory, no register", a.Bytes)}
	if a.Line == 0 {
		f.advise("access it in whole words and by constant indices, and take no address of it")
		return f
	}
	f.Evidence = fmt.Sprintf("indexes a variable of %d bytes of each thread at run time, so that it is in local memory", a.Bytes)
	f.Line = fmt.Sprintf("PTX line %d", a.Line)
	for i := range s.Report.Lines {
		for _, in := range s.Report.Lines[i].Instructions {
			if in.PTXLine == a.Line {
				f.Line = s.Report.Lines[i].Line
			}
		}
	}
	f.Beyond = "loops that are unrolled take fewer instructions"
	const mostWords = 64 // what registers may hold beside the rest
	if words := (a.Bytes + bankBytes - 1) / bankBytes; words <= mostWords {
		f.advise(fmt.Sprintf("index it with constants, so that it is in %d registers: unroll the loops over it", words))
	} else {
		f.advise(fmt.Sprintf("its %d words are too many for registers: keep it in shared memory, a column a thread", words))
	}
	return f
}

// localArraysAnyway is such variables where they cost nothing to speak of.
func localArraysAnyway(s *Subject) (Finding, bool) {
	if len(s.Report.LocalArrays) == 0 {
		return Finding{}, false
	}
	f := localArrays(s)
	f.Topic, f.Remedy, f.advice = ideal.LocalArrays.String(), "In registers it would hardly be faster", nil
	return f, true
}
