package explain

import (
	"fmt"
	"math"

	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/simengine/timing"
)

// updates is the line that makes most updates of a kind, those of one address counting as often as lanes meet at it.
func updates(s *Subject, kind string) place {
	return worst(s.Report, func(m *simengine.MemoryUse) float64 { return m.Requests * math.Max(m.SameAddress, 1) }, kind)
}

// globalAtomics are those that a CTA could sum before.
func globalAtomics(s *Subject) Finding {
	p := updates(s, "global atomic")
	f := Finding{Line: p.at(), Evidence: "atomics of all CTAs update the same words in L2, which takes them one after another"}
	if p.Requests > 0 {
		f.Evidence = fmt.Sprintf("updates global memory by atomics, the same words from all CTAs: %s requests, each to %s with up to %s at one word",
			scaled(p.Requests, ""), several(p.Sectors/p.Requests, "sector"), several(p.SameAddress, "lane"))
		if use := shareOf(s.Report, "atomics"); use >= timing.BoundFrom {
			f.Evidence += fmt.Sprintf("; the slices of L2 that have these words take sectors and lanes one after another, %.3g ns a request, which is %s of the time",
				1000*use*s.Report.TimeUS/p.Requests, percent(use))
		}
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
		f.Evidence = fmt.Sprintf("updates global memory by atomics, %s a CTA", several(each, "request"))
		if has(s, nil, "atom.shared", "red.shared") {
			f.Evidence = fmt.Sprintf("adds the private copy of each CTA to the result by atomics, %s a CTA", several(each, "request"))
		}
		f.Evidence += fmt.Sprintf(": the %s CTAs update the same words", grouped(s.CTAs))
	}
	f.advice = append(f.advice, advice{"more work a CTA and fewer CTAs (a grid of as many as fit the SMs, that loops), so that results are added less often", +1})
	return f
}

// sharedAtomics are those of lanes that meet at a word of shared memory.
func sharedAtomics(s *Subject) Finding {
	p := updates(s, "shared atomic")
	f := Finding{Line: p.at(), Evidence: "atomics of several lanes update one word of shared memory"}
	if p.Requests > 0 {
		f.Evidence = fmt.Sprintf("updates shared memory by atomics, up to %s of a request at one word, one after another", several(p.SameAddress, "lane"))
	}
	if p.SameAddress >= 16 {
		f.advise("sum in the warp by shuffles first")
	} else {
		f.advise("sum in the warp what goes to one word first (__match_any_sync, or several elements a thread in registers)", "copies for parts of a warp")
	}
	return f
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
