package exec

import (
	"math"
	"math/bits"

	"github.com/warptune/warptune/simengine/exec/internal/code"
	"github.com/warptune/warptune/simengine/exec/loopsample"
)

// Loop sampling: the first iterations of a long counted loop are executed, the middle ones are left
// out, and the last is executed again. The observer is told how many were left out
// (Observer.Repeat).
//
//	header  1  2  3   |  4 ... n-1  |  n
//	        executed  |  left out   |  executed
//
// Package loopsample says which loops qualify. Before iterations are left out, the registers of each
// lane must bear it out: the number of iterations left is the same for all lanes, and cyclic
// registers have the values they had one period before. The inductions are then advanced by the
// steps they took in that period.
//
// A loopRun is one warp's passage through one loop.
type loopRun struct {
	active  bool
	settled bool // sampled already, or found that it cannot be
	mask    uint32
	rounds  int   // iterations finished
	entries int32 // times this loop was entered
	parts   int   // times iterations of it were left out, of a loop that is estimated
	since   int   // rounds when registers were remembered
	passage int   // of a loop with operations on mbarriers: see passages.go
	left    int64 // iterations left out

	// induct and carried are what the registers held at the header one
	// iteration before the one at which the decision falls.
	induct     [WarpSize]uint64
	inductions [][WarpSize]uint64
	guards     [][WarpSize]uint64 // the same of the inductions that guards compare
	cyclic     [][WarpSize]uint64

	firsts     [][WarpSize]uint64     // what comparisons read when registers were remembered: the exit's, then guards'
	results    []uint32               // of guards since then, by lane
	signature  uint64                 // of the operations on mbarriers in this iteration
	signatures [maxAsyncPeriod]uint64 // of those since then
}

// loopKey names one passage through a loop, the same for all warps of a CTA.
type loopKey struct {
	loop  int32
	entry int32
	part  int // of a loop that is estimated
}

// forbidBarrierLoops decides whether loops with barriers are sampled. All warps must leave out the
// same iterations; if they disagree the run is repeated without sampling, so it must be repeatable.
func (r *Runner) forbidBarrierLoops(cannotRestart bool) {
	r.noBarrierLoops = cannotRestart || !r.p.Rewritable
}

// enterBlock counts loop iterations and leaves out the middle ones.
func (r *Runner) enterBlock(w *warp, t *frame) {
	at := int(t.block)
	for n := len(w.inLoops); n > 0 && !r.p.Loops[w.inLoops[n-1]].Members[at]; n-- {
		r.leaveLoop(w)
	}
	i := r.p.LoopHeadedBy[at]
	if i < 0 {
		return
	}
	s := r.p.Samplers[i]
	whole := s == nil || (s.Barrier || s.Mbarriers) && r.noBarrierLoops || s.Estimated && r.opt.Estimate <= 0
	passes := r.p.Loops[i].Mbarriers
	if whole && !passes {
		return
	}
	run := &w.loops[i]
	if !run.active || t.mask&^run.mask != 0 {
		if passes {
			r.enterPassage(w, run)
		}
		if !run.active {
			w.inLoops = append(w.inLoops, i)
		}
		run.active, run.settled, run.mask, run.rounds, run.parts = true, whole, t.mask, 0, 0
		run.entries++
		return
	}
	run.rounds++
	if passes && run.rounds > shortLoop {
		r.number(w, run)
	}
	if run.settled {
		return
	}
	first := max(r.opt.LoopSample, 2)
	switch {
	case t.mask != run.mask:
		run.settled = true // lanes leave at different times
	case s.Estimated:
		r.estimate(w, run, s, i)
	case s.Periodic:
		r.findPeriod(w, run, s, i, first)
	case run.rounds == first-1:
		run.remember(w, s)
	case run.rounds >= first:
		period := run.rounds - (first - 1)
		switch {
		case run.cycled(w, s):
			run.settled = true
			r.leaveOut(w, run, s, i, int64(period))
		case period >= maxPeriod:
			run.settled = true
		default:
			run.note(w, s)
		}
	}
}

// maxPeriod is within how many iterations cyclic registers must have come round for the loop to be
// sampled. Buffers are used in turns of two to four.
const maxPeriod = 8

// remember saves the registers from which the steps of iterations are taken.
func (run *loopRun) remember(w *warp, s *code.Sampler) {
	if len(run.inductions) < len(s.Inductions) {
		run.inductions = make([][WarpSize]uint64, len(s.Inductions))
	}
	for n, c := range s.Inductions {
		w.copyOut(&run.inductions[n], c)
	}
	if len(run.cyclic) < len(s.Cyclic) {
		run.cyclic = make([][WarpSize]uint64, len(s.Cyclic))
	}
	for n, c := range s.Cyclic {
		w.copyOut(&run.cyclic[n], c)
	}
	run.note(w, s)
}

// note saves the registers that comparisons read.
func (run *loopRun) note(w *warp, s *code.Sampler) {
	if len(run.guards) < len(s.Guards) {
		run.guards = make([][WarpSize]uint64, len(s.Guards))
	}
	for n := range s.Guards {
		w.copyOut(&run.guards[n], s.Guards[n].Induction)
	}
	w.copyOut(&run.induct, s.Induction)
}

// cycled reports whether all cyclic registers have again the values that were remembered.
func (run *loopRun) cycled(w *warp, s *code.Sampler) bool {
	for n, c := range s.Cyclic {
		for m := run.mask; m != 0; m &= m - 1 {
			if l := bits.TrailingZeros32(m); w.value(c, l) != run.cyclic[n][l] {
				return false
			}
		}
	}
	return true
}

func (w *warp) copyOut(d *[WarpSize]uint64, s code.Slot) {
	switch s.File {
	case code.File64:
		*d = w.r64[s.Index]
	case code.FilePred:
		for l := range d {
			d[l] = w.value(s, l)
		}
	default:
		widen(d, &w.r32[s.Index], false)
	}
}

// value is get for predicates too.
func (w *warp) value(s code.Slot, l int) uint64 {
	if s.File == code.FilePred {
		return uint64(w.pred[s.Index] >> l & 1)
	}
	return w.get(s, l)
}

// leaveOut leaves out all iterations that are left but the last: whole periods of them, and only as
// long as each guard has the result that it had in the last one executed.
func (r *Runner) leaveOut(w *warp, run *loopRun, s *code.Sampler, loop int32, period int64) {
	n := r.remaining(w, run, s) - s.Keep
	for k := range s.Guards {
		if s.Periodic {
			n = min(n, r.held(w, run.mask, &s.Guards[k], &run.guards[k]))
			continue
		}
		n = min(n, r.unchanged(w, run.mask, &s.Guards[k], &run.guards[k]))
	}
	if s.Mbarriers {
		n = r.agree(w, run, s, period, max(n, 0))
		run.left = n
	}
	r.skip(w, run, s, loop, period, n-max(n, 0)%period)
}

// estimate leaves out a part of the iterations that are left. The iteration executed last is the
// sample of that part. Two iterations are executed between parts: the first brings registers
// computed from inductions up to date.
func (r *Runner) estimate(w *warp, run *loopRun, s *code.Sampler, loop int32) {
	first := max(r.opt.LoopSample, 2)
	if run.rounds < first-1 {
		return
	}
	if since := run.rounds - (first - 1); since%2 == 0 {
		run.remember(w, s)
		return
	}
	parts := int64(r.opt.Estimate - run.parts)
	run.parts++
	run.settled = parts <= 1
	r.skip(w, run, s, loop, 1, (r.remaining(w, run, s)-s.Keep-2*(parts-1))/parts)
}

// skip leaves out n iterations, in whole periods.
func (r *Runner) skip(w *warp, run *loopRun, s *code.Sampler, loop int32, period, n int64) {
	const marginal = 1 // by how many iterations of a loop that is estimated warps may differ
	if s.Barrier && !s.Mbarriers {
		key := loopKey{loop, run.entries, run.parts}
		if s.Estimated {
			n -= marginal
		}
		if s.Periodic {
			n = r.fewest(key, period, n)
		}
		if agreed, ok := r.agreed[key]; !ok {
			r.agreed[key] = n
		} else if s.Estimated && n+2*marginal >= agreed {
			n = agreed
		} else if agreed != n {
			r.disagree = true
			return
		}
	}
	if n < 1 || r.disagree {
		return
	}
	for i, c := range s.Inductions {
		for m := run.mask; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			v := w.get(c, l)
			w.put(c, l, v+uint64(n/period)*(v-run.inductions[i][l]))
		}
	}
	if r.obs != nil {
		if o, ok := r.obs.(PeriodObserver); ok {
			o.Period(w.id, period)
		}
		r.obs.Repeat(w.id, s.Head, n)
	}
}

// fewest is n, or less of it in whole periods, as few as warps before have left out or one of an earlier run could. Where
// a warp cannot leave out as many as those before it, the next run knows.
func (r *Runner) fewest(key loopKey, period, n int64) int64 {
	if least, ok := r.least[key]; ok && least < n {
		n = least - max(least, 0)%period
	}
	agreed, ok := r.agreed[key]
	switch {
	case ok && agreed < n && agreed%period == 0:
		return agreed
	case ok && agreed > n:
		r.least[key] = n
	}
	return n
}

// remaining is how many more comparisons will continue the loop: 0 where that differs between lanes
// or is not known. For a loop that is estimated it is the least of all lanes.
func (r *Runner) remaining(w *warp, run *loopRun, s *code.Sampler) int64 {
	common := int64(-1)
	var lastX, lastStep, lastY uint64
	for m := run.mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		x, step, y := w.next(&s.SlotTest, l, run.induct[l])
		if common >= 0 && x == lastX && step == lastStep && y == lastY {
			continue
		}
		lastX, lastStep, lastY = x, step, y
		n := loopsample.TripCount(s.Compare, s.Type, x, step, y, s.Continues)
		switch {
		case s.Estimated && common >= 0 && n >= 0:
			n = min(n, common) // what is left of those with more is executed
		case n < 0 || common >= 0 && n != common:
			return 0
		}
		common = n
	}
	return max(common, 0)
}

// next returns the operands x and y of a lane's next comparison, and by how much x grows in an
// iteration. before is the induction's value one iteration earlier.
func (w *warp) next(c *code.SlotTest, l int, before uint64) (x, step, y uint64) {
	x = w.get(c.Induction, l)
	step, y = x-before, c.Imm
	if c.Limit.File != code.FileNone {
		y = w.get(c.Limit, l)
	}
	if !c.Ahead {
		x += step
	}
	return x, step, y
}

// unchanged is how many more comparisons of a guard will have the result of the last one, in every
// lane; 0 where that is not known.
func (r *Runner) unchanged(w *warp, mask uint32, c *code.SlotTest, before *[WarpSize]uint64) int64 {
	least := int64(math.MaxInt64)
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		x, step, y := w.next(c, l, before[l])
		held := loopsample.TripCount(c.Compare, c.Type, x-step, step, y, true)
		if held == 0 {
			held = loopsample.TripCount(c.Compare, c.Type, x-step, step, y, false)
		}
		least = min(least, max(held-1, 0))
	}
	return least
}
