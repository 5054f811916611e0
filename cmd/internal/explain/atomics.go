package explain

import (
	"fmt"
	"math"

	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/simengine/ideal"
)

// updates is the line that makes most updates of a kind, those of one address counting as often as lanes meet at it.
func updates(s *Subject, kind string) place {
	return worst(s.Report, func(m *simengine.MemoryUse) float64 { return m.Requests * math.Max(m.SameAddress, 1) }, kind)
}

// globalAtomics are those that a CTA could sum before.
func globalAtomics(s *Subject) Finding {
	p := updates(s, "global atomic")
	f := Finding{Line: p.at(), Evidence: "atomics meet at addresses in L2, which takes them one after another"}
	if p.Requests > 0 {
		f.Evidence = fmt.Sprintf("updates global memory with atomics that meet: %s requests, up to %s lanes of each at one address, and a CTA updates the same words again and again; L2 takes updates of one line one after another",
			scaled(p.Requests, ""), number(p.SameAddress))
	}
	const warpSums = 16 // lanes at one address
	if p.SameAddress >= warpSums {
		f.advise("sum in the warp by shuffles, then in the CTA through shared memory, and add once a CTA")
	} else {
		f.advise("privatise: let each CTA add in a copy of its own in shared memory, and add that to the result once")
	}
	return f
}

// l2Atomics are those that CTAs make once each.
func l2Atomics(s *Subject) Finding {
	p := updates(s, "global atomic")
	f := Finding{Line: p.at(), Evidence: "atomics in L2 take their time"}
	if p.Requests > 0 {
		each := p.Requests / float64(max(s.CTAs, 1))
		f.Evidence = fmt.Sprintf("updates global memory with atomics, %s requests a CTA", number(each))
		if has(s, nil, "atom.shared", "red.shared") {
			f.Evidence = fmt.Sprintf("adds the private copy of each CTA to the result by atomics, %s requests a CTA", number(each))
		}
		f.Evidence += fmt.Sprintf(": the %d CTAs meet at the same words", s.CTAs)
	}
	f.advice = append(f.advice, advice{"more work a CTA and fewer CTAs (a grid of as many as fit the SMs, that loops), so that results are added less often", +1})
	return f
}

// sharedAtomics are those of lanes that meet at a word of shared memory.
func sharedAtomics(s *Subject) Finding {
	p := updates(s, "shared atomic")
	f := Finding{Line: p.at(), Evidence: "atomics meet at words of shared memory"}
	if p.Requests > 0 {
		f.Evidence = fmt.Sprintf("updates shared memory with atomics that meet: up to %s lanes of a request at one word, one after another", number(p.SameAddress))
	}
	if p.SameAddress >= 16 {
		f.advise("sum in the warp by shuffles first")
	} else {
		f.advise("sum what meets in the warp first (__match_any_sync, or several elements a thread in registers)", "copies for parts of a warp")
	}
	return f
}

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
	if s.Report.Registers < mostRegisters {
		f.advise(fmt.Sprintf("a larger register cap (it is %d)", s.Report.Registers))
	}
	f.advise("smaller tiles", "shorter lives of values")
	return f
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

// gap is what passes between launches.
func gap(s *Subject) (Finding, bool) {
	us := s.Arch.LaunchGapUS
	f := Finding{Topic: topicGap, Outside: true, TimeUS: s.Report.TimeUS - us}
	if f.TimeUS <= 0 {
		return f, false
	}
	f.Gain = s.Report.TimeUS / f.TimeUS
	f.Evidence = fmt.Sprintf("not of this kernel: %.2f us of the time pass between launches, whatever they do", us)
	f.Remedy = "More work a launch, one launch for several kernels, or CUDA graphs"
	return f, f.Gain >= leastGain
}
