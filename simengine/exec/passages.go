package exec

import (
	"math"
	"math/bits"

	"github.com/warptune/warptune/simengine/exec/internal/code"
	"github.com/warptune/warptune/simengine/exec/loopsample"
)

// Warps that meet at mbarriers in loops must leave out as many iterations each, though their loops
// are different ones: those of a producer and of its consumers. A passage is one run of a warp
// through a loop with operations on mbarriers. Those of more than shortLoop iterations are numbered
// in each warp, and those of the same number belong together. The first warp to come to a passage
// decides how many iterations are left out. Where another cannot leave out as many, the CTA is run
// again with what it can. Shorter loops, such as those that fill a pipeline's stages at first, are
// executed whole.

// passage is what warps have agreed on, and what earlier runs of the CTA found out.
type passage struct {
	agreed bool
	n      int64 // iterations left out
	most   int64
	period int64 // of which n must be a multiple
}

const (
	shortLoop = 16
	// maxAsyncPeriod is within how many iterations registers must have come round: twice the stages.
	maxAsyncPeriod = 32
	// mostRuns is how often a CTA is run again before its loops are executed whole.
	mostRuns = 4
)

// enterPassage numbers a passage.
func (r *Runner) enterPassage(w *warp, run *loopRun) {
	if run.active {
		r.endPassage(run)
	}
	run.passage, run.left, run.signature = unnumbered, 0, 0
	w.meets = true
}

// unnumbered is a passage that may be a short one still.
const unnumbered = -1

// number gives a passage its number, when it is known to be long.
func (r *Runner) number(w *warp, run *loopRun) {
	if run.passage == unnumbered {
		run.passage = w.passages
		w.passages++
	}
}

// leaveLoop ends the innermost loop that the warp is in.
func (r *Runner) leaveLoop(w *warp) {
	n := len(w.inLoops) - 1
	i := w.inLoops[n]
	w.inLoops = w.inLoops[:n]
	run := &w.loops[i]
	if run.active = false; r.p.Loops[i].Mbarriers {
		r.endPassage(run)
	}
}

// passage returns what is known of a passage.
func (r *Runner) passage(n int) *passage {
	for len(r.passages) <= n {
		r.passages = append(r.passages, passage{most: math.MaxInt64, period: 1})
	}
	return &r.passages[n]
}

// endPassage settles that nothing was left out of a passage, if so.
func (r *Runner) endPassage(run *loopRun) {
	if run.passage == unnumbered {
		return
	}
	p := r.passage(run.passage)
	if p.agreed && p.n != run.left {
		p.most = 0
		r.disagree = true
	}
	if !p.agreed {
		p.agreed, p.n = true, 0
	}
}

// agree returns how many iterations of a passage are left out, of those that a warp can leave out.
func (r *Runner) agree(w *warp, run *loopRun, s *code.Sampler, period, most int64) int64 {
	if int64(run.rounds)+r.remaining(w, run, s) <= shortLoop {
		return 0
	}
	r.number(w, run)
	p := r.passage(run.passage)
	if s.States {
		period = leastCommon(period, 2)
	}
	if p.agreed && (p.n > most || p.n%period != 0) {
		p.most, p.period = min(p.most, most), leastCommon(p.period, period)
		r.disagree = true
		return 0
	}
	if !p.agreed {
		n := min(most, p.most)
		p.agreed, p.n = true, n-n%leastCommon(p.period, period)
	}
	return p.n
}

func leastCommon(a, b int64) int64 {
	x, y := a, b
	for y != 0 {
		x, y = y, x%y
	}
	return a / x * b
}

// endPassages checks, when all warps have exited, that those with passages had all of which
// iterations were left out.
func (r *Runner) endPassages() {
	for i := range r.warps[:r.nwarps] {
		w := &r.warps[i]
		for k := w.passages; w.meets && k < len(r.passages); k++ {
			if p := &r.passages[k]; p.agreed && p.n > 0 {
				p.most = 0
				r.disagree = true
			}
		}
	}
}

// restartPassages prepares another run of a CTA whose warps did not agree, and reports whether loops
// are sampled in it.
func (r *Runner) restartPassages() bool {
	if len(r.passages) == 0 && len(r.least) == 0 || r.runs >= mostRuns {
		return false
	}
	r.runs++
	for i := range r.passages {
		r.passages[i].agreed = false
	}
	return true
}

// findPeriod leaves out iterations of a loop once its registers have come round, the results of its
// guards having been the same since.
func (r *Runner) findPeriod(w *warp, run *loopRun, s *code.Sampler, loop int32, first int) {
	if run.rounds < first-1 {
		run.signature = 0
		return
	}
	span := run.rounds - run.since
	if run.rounds == first-1 || span < 1 || !r.sameResults(w, run, s, span == 1) || span >= maxAsyncPeriod && run.since == first-1 {
		run.remember(w, s)
		run.since, run.signature = run.rounds, 0
		run.firsts = append(append(run.firsts[:0], run.induct), run.guards[:len(s.Guards)]...)
		return
	}
	run.signatures[(span-1)%maxAsyncPeriod], run.signature = run.signature, 0
	switch {
	case run.cycled(w, s) && run.repeated(s, span):
		if run.settled = true; run.uniform(w, s, uint64(span)) {
			r.leaveOut(w, run, s, loop, int64(span))
		}
	case span >= maxAsyncPeriod || run.rounds >= 4*maxAsyncPeriod:
		run.settled = true
	default:
		run.note(w, s)
	}
}

// uniform reports whether what comparisons read has grown by the same step in each of the iterations
// since registers were remembered.
func (run *loopRun) uniform(w *warp, s *code.Sampler, span uint64) bool {
	steady := func(c *code.SlotTest, first, before *[WarpSize]uint64) bool {
		for m := run.mask; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			x := w.get(c.Induction, l)
			grown, step := x-first[l], x-before[l]
			if c.Induction.File == code.File32 {
				grown, step = uint64(uint32(grown)), uint64(uint32(step*span))
			} else {
				step *= span
			}
			if grown != step {
				return false
			}
		}
		return true
	}
	if !steady(&s.SlotTest, &run.firsts[0], &run.induct) {
		return false
	}
	for k := range s.Guards {
		if !steady(&s.Guards[k], &run.firsts[1+k], &run.guards[k]) {
			return false
		}
	}
	return true
}

// repeated reports whether the operations on mbarriers in the later half of the iterations are those
// in the earlier one, where they are not known to follow from cyclic registers.
func (run *loopRun) repeated(s *code.Sampler, span int) bool {
	if !s.Drifts {
		return true
	}
	for i := range span / 2 {
		if run.signatures[i] != run.signatures[span/2+i] {
			return false
		}
	}
	return span%2 == 0
}

// sameResults reports whether guards had the results in this iteration that they had in the first.
func (r *Runner) sameResults(w *warp, run *loopRun, s *code.Sampler, first bool) bool {
	if len(run.results) < len(s.Guards) {
		run.results = make([]uint32, len(s.Guards))
	}
	for k := range s.Guards {
		c := &s.Guards[k]
		var v uint32
		for m := run.mask; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			x, step, y := w.next(c, l, run.guards[k][l])
			if loopsample.Holds(c.Compare, c.Type, x-step, y) {
				v |= 1 << l
			}
		}
		if first {
			run.results[k] = v
		} else if run.results[k] != v {
			return false
		}
	}
	return true
}

// held is how many more comparisons of a guard will have the result of the last one, in every lane.
func (r *Runner) held(w *warp, mask uint32, c *code.SlotTest, before *[WarpSize]uint64) int64 {
	least := int64(math.MaxInt64)
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		x, step, y := w.next(c, l, before[l])
		least = min(least, max(loopsample.Held(c.Compare, c.Type, x-step, step, y)-1, 0))
	}
	return least
}

// sign adds an operation on an mbarrier to the signatures of the loops that the warp is in.
func (w *warp) sign(v uint64) {
	for _, i := range w.inLoops {
		run := &w.loops[i]
		run.signature = (run.signature ^ v) * 0x9e3779b97f4a7c15
		run.signature ^= run.signature >> 29
	}
}
