package explain

import (
	"fmt"
	"math"
	"strings"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/simengine/arch"
)

// occupancy is what limits the CTAs on an SM, and what the next step up takes.
func occupancy(s *Subject) Finding {
	r := s.Report
	f := Finding{Evidence: fmt.Sprintf("occupancy is %.0f %%: %s of %d threads on an SM, limited by %s", 100*r.Occupancy, ctas(r.CTAsPerSM), s.Threads, LimiterWords(r.Limiter))}
	switch r.Limiter {
	case "registers":
		f.Evidence += fmt.Sprintf(" (%d a thread)", r.Registers)
		if s.ofTriton() {
			f.advise("cap the registers (maxnreg of triton.Config)", "fewer values a thread: smaller tiles, or "+s.stated("more warps a CTA", numWarps))
		} else {
			f.advise("cap the registers (__launch_bounds__, maxrregcount)", "fewer live values a thread")
		}
	case "shared_mem":
		f.Evidence += fmt.Sprintf(" (%d bytes a CTA)", r.SharedStatic+r.SharedDynamic)
		f.advise("smaller tiles")
		if n, _ := s.Config.Get(numStages); s.ofTriton() && n != search.OfInt(1) {
			f.advise(s.stated("fewer stages", numStages))
		}
	}
	switch text := nextStep(s); {
	case text == "":
	case strings.HasPrefix(text, "a carve-out"):
		f.advise(text)
	case len(f.advice) > 0:
		f.advice[len(f.advice)-1].text += ": " + text
	}
	return f
}

// ctas is a number of CTAs in words.
func ctas(n int) string {
	if n == 1 {
		return "1 CTA"
	}
	return fmt.Sprintf("%d CTAs", n)
}

// LimiterWords is what limits occupancy, in words.
func LimiterWords(limiter string) string {
	switch limiter {
	case "shared_mem":
		return "shared memory"
	case "warps":
		return "the most warps that an SM holds"
	case "blocks":
		return "the most CTAs that an SM holds"
	}
	return limiter
}

// nextStep is the most registers or shared memory with which an SM would hold a CTA more.
func nextStep(s *Subject) string {
	r := s.Report
	k := arch.Kernel{Threads: s.Threads, Registers: r.Registers, Shared: r.SharedStatic + r.SharedDynamic, Static: r.SharedStatic}
	more := func(k arch.Kernel, carveOut int) (int, bool) {
		o, err := arch.Occupy(s.Arch, k, carveOut)
		return o.CTAs, err == nil && o.CTAs > r.CTAsPerSM
	}
	share := func(ctas int) float64 {
		return 100 * math.Min(float64(ctas*((s.Threads+31)/32))/float64(s.Arch.MaxWarps), 1)
	}
	switch r.Limiter {
	case "registers":
		for k.Registers = r.Registers - 1; k.Registers >= 16; k.Registers-- {
			if n, ok := more(k, r.CarveOut); ok {
				return fmt.Sprintf("%d registers a thread allow %d CTAs (%.0f %%)", k.Registers, n, share(n))
			}
		}
	case "shared_mem":
		for _, size := range s.Arch.CarveOuts {
			if n, ok := more(k, size); size > r.CarveOut && ok {
				return fmt.Sprintf("a carve-out of %d KiB allows %d CTAs (%.0f %%)", size/1024, n, share(n))
			}
		}
		unit := max(s.Arch.SharedUnit, 1)
		for k.Shared = (k.Shared - 1) / unit * unit; k.Shared >= 0; k.Shared -= unit {
			k.Static = min(k.Static, k.Shared)
			if n, ok := more(k, r.CarveOut); ok {
				return fmt.Sprintf("%d bytes a CTA allow %d CTAs (%.0f %%)", k.Shared, n, share(n))
			}
		}
	}
	return ""
}

// fewWaves is the waves from which on a last one that is not full costs less than a finding is worth.
const fewWaves = 20

// tail is a last wave that is not full.
func tail(s *Subject) (Finding, bool) {
	r := s.Report
	w := r.Waves
	f := Finding{Topic: topicTail, Estimated: true, advice: []advice{{text: "a grid of as many CTAs as the SMs hold at a time, that loops (persistent)"}}}
	perSM := float64(s.CTAs) / float64(s.Arch.SMs)
	if perSM < 2 {
		f.advice = []advice{{"smaller CTAs, or more of them with less work each", -1}}
	}
	switch {
	case w <= 0 || w > fewWaves || r.Bound == "dram" || r.Bound == "l2":
		return f, false
	case perSM < 1:
		f.Evidence = fmt.Sprintf("%d CTAs leave %d of %d SMs without work", s.CTAs, s.Arch.SMs-int(s.CTAs), s.Arch.SMs)
	case w < 1:
		f.Evidence = fmt.Sprintf("%d CTAs on %d SMs: the busiest has %.0f, the mean %.2f", s.CTAs, s.Arch.SMs, math.Ceil(perSM), perSM)
	default:
		f.Evidence = fmt.Sprintf("%.2f waves of CTAs: the last one fills %.0f %% of the device", w, 100*(w-math.Ceil(w)+1))
	}
	// The busiest SM has a whole number of CTAs. What its others wait for it is lost.
	f.Gain = math.Ceil(perSM) / perSM
	work := r.TimeUS - s.Arch.LaunchGapUS
	f.TimeUS = s.Arch.LaunchGapUS + work/f.Gain
	f.Gain = r.TimeUS / f.TimeUS
	return f, f.Gain >= leastGain
}
