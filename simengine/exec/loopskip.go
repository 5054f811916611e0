package exec

import (
	"math"
	"math/bits"

	"github.com/warptune/warptune/simengine/exec/loopsample"

	"github.com/warptune/warptune/simengine/ir"
)

// loopRun is one warp's passage through one loop.
type loopRun struct {
	active  bool
	settled bool // sampled already, or found that it cannot be
	mask    uint32
	rounds  int   // iterations finished
	entries int32 // times this loop was entered
	parts   int   // times iterations of it were left out, of a loop that is estimated

	// induct and carried are what the registers held at the header one
	// iteration before the one at which the decision falls.
	induct     [WarpSize]uint64
	inductions [][WarpSize]uint64
	guards     [][WarpSize]uint64 // the same of the inductions that guards compare
	cyclic     [][WarpSize]uint64
}

// loopKey names one passage through a loop, the same for all warps of a CTA.
type loopKey struct {
	loop  int32
	entry int32
	part  int // of a loop that is estimated
}

// sampler is a loop resolved to slots.
type sampler struct {
	inductions []slot
	cyclic     []slot
	slotTest
	goesOn  bool
	guards  []slotTest
	keep    int64 // comparisons to leave that still continue the loop
	barrier bool
	head    int
	// estimated: iterations depend on data, and are left out by Options.Estimate.
	estimated bool
}

// slotTest is a loopTest resolved to slots.
type slotTest struct {
	induct slot
	limit  slot
	imm    uint64
	typ    ir.Type
	cmp    ir.Cmp
	ahead  bool
}

func (c *compiler) slotTest(t *loopsample.Test) slotTest {
	s := slotTest{typ: t.Type, cmp: t.Cmp, ahead: t.Ahead, limit: noSlot, induct: c.slots[t.Induction.Reg]}
	if t.Limit.Kind == ir.OperandReg {
		s.limit = c.slots[t.Limit.Reg]
	} else {
		s.imm = t.Limit.Imm
	}
	return s
}

// samplers resolves the loops that can be sampled; nil for the others.
func (c *compiler) samplers() {
	c.p.samplers = make([]*sampler, len(c.p.Loops))
	for i := range c.p.Loops {
		l := &c.p.Loops[i]
		if !l.Counted {
			continue
		}
		t := &l.Exit
		s := &sampler{slotTest: c.slotTest(t), goesOn: t.Continues, keep: 2, barrier: l.Barriers, head: l.Head, estimated: !l.CanSample()}
		if t.AtLatch {
			s.keep = 1
		}
		for _, r := range l.Inductions {
			s.inductions = append(s.inductions, c.slots[r])
		}
		c.p.samplers[i] = s
		if s.estimated {
			continue
		}
		for _, r := range l.Cyclic {
			s.cyclic = append(s.cyclic, c.slots[r])
		}
		for k := range l.Guards {
			s.guards = append(s.guards, c.slotTest(&l.Guards[k]))
		}
	}
}

// forbidBarrierLoops decides whether loops with barriers are sampled at all:
// not if the run could not be repeated should the warps disagree.
func (r *Runner) forbidBarrierLoops(cannotRestart bool) {
	r.noBarrierLoops = cannotRestart || !r.p.rewritable
}

// enterBlock keeps count of loop iterations and leaves out the middle ones.
func (r *Runner) enterBlock(w *warp, t *frame) {
	at := int(t.block)
	for n := len(w.inLoops); n > 0 && !r.p.Loops[w.inLoops[n-1]].Members[at]; n-- {
		w.loops[w.inLoops[n-1]].active = false
		w.inLoops = w.inLoops[:n-1]
	}
	i := r.p.headOf[at]
	if i < 0 {
		return
	}
	s := r.p.samplers[i]
	if s == nil || s.barrier && r.noBarrierLoops || s.estimated && r.opt.Estimate <= 0 {
		return
	}
	run := &w.loops[i]
	if !run.active || t.mask&^run.mask != 0 {
		if !run.active {
			w.inLoops = append(w.inLoops, i)
		}
		run.active, run.settled, run.mask, run.rounds, run.parts = true, false, t.mask, 0, 0
		run.entries++
		return
	}
	run.rounds++
	if run.settled {
		return
	}
	first := max(r.opt.LoopSample, 2)
	switch {
	case t.mask != run.mask:
		run.settled = true // lanes leave at different times
	case s.estimated:
		r.estimate(w, run, s, i)
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

// mostTurns is in how many iterations a register that turns must come round for
// the loop to be sampled: buffers are used in turns of two to four.
const maxPeriod = 8

// remember saves the registers from which the steps of iterations are taken.
func (run *loopRun) remember(w *warp, s *sampler) {
	if len(run.inductions) < len(s.inductions) {
		run.inductions = make([][WarpSize]uint64, len(s.inductions))
	}
	for n, c := range s.inductions {
		w.copyOut(&run.inductions[n], c)
	}
	if len(run.cyclic) < len(s.cyclic) {
		run.cyclic = make([][WarpSize]uint64, len(s.cyclic))
	}
	for n, c := range s.cyclic {
		w.copyOut(&run.cyclic[n], c)
	}
	run.note(w, s)
}

// note saves the registers that comparisons read.
func (run *loopRun) note(w *warp, s *sampler) {
	if len(run.guards) < len(s.guards) {
		run.guards = make([][WarpSize]uint64, len(s.guards))
	}
	for n := range s.guards {
		w.copyOut(&run.guards[n], s.guards[n].induct)
	}
	w.copyOut(&run.induct, s.induct)
}

// turned reports whether all registers that turn are again what was remembered.
func (run *loopRun) cycled(w *warp, s *sampler) bool {
	for n, c := range s.cyclic {
		for m := run.mask; m != 0; m &= m - 1 {
			if l := bits.TrailingZeros32(m); w.get(c, l) != run.cyclic[n][l] {
				return false
			}
		}
	}
	return true
}

func (w *warp) copyOut(d *[WarpSize]uint64, s slot) {
	if s.file == file64 {
		*d = w.r64[s.index]
		return
	}
	widen(d, &w.r32[s.index], false)
}

// leaveOut works out how many iterations are left and skips all but the last, whole
// periods of them and as long as all guards find what they found in the last one.
func (r *Runner) leaveOut(w *warp, run *loopRun, s *sampler, loop int32, period int64) {
	n := r.remaining(w, run, s) - s.keep
	for k := range s.guards {
		n = min(n, r.unchanged(w, run.mask, &s.guards[k], &run.guards[k]))
	}
	r.skip(w, run, s, loop, period, n-max(n, 0)%period)
}

// estimate leaves out a part of the iterations that are left, of which the one that
// was executed last is the sample. Two are executed from one part to the next: the
// first of them brings registers computed from inductions up to date.
func (r *Runner) estimate(w *warp, run *loopRun, s *sampler, loop int32) {
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
	r.skip(w, run, s, loop, 1, (r.remaining(w, run, s)-s.keep-2*(parts-1))/parts)
}

// skip leaves out n iterations, whole periods of them.
func (r *Runner) skip(w *warp, run *loopRun, s *sampler, loop int32, period, n int64) {
	const marginal = 1 // by how many iterations of a loop that is estimated warps may differ
	if s.barrier {
		key := loopKey{loop, run.entries, run.parts}
		if s.estimated {
			n -= marginal
		}
		if agreed, ok := r.agreed[key]; !ok {
			r.agreed[key] = n
		} else if s.estimated && n+2*marginal >= agreed {
			n = agreed
		} else if agreed != n {
			r.disagree = true
			return
		}
	}
	if n < 1 {
		return
	}
	for i, c := range s.inductions {
		for m := run.mask; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			v := w.get(c, l)
			w.put(c, l, v+uint64(n/period)*(v-run.inductions[i][l]))
		}
	}
	if r.obs != nil {
		r.obs.Repeat(w.id, s.head, n)
	}
}

// remaining is the number of comparisons that will still continue the loop,
// the same for all lanes, or 0 when it differs or cannot be told; the least of all
// lanes for a loop that is estimated.
func (r *Runner) remaining(w *warp, run *loopRun, s *sampler) int64 {
	common := int64(-1)
	var lastX, lastStep, lastY uint64
	for m := run.mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		x, step, y := s.next(w, l, run.induct[l])
		if common >= 0 && x == lastX && step == lastStep && y == lastY {
			continue
		}
		lastX, lastStep, lastY = x, step, y
		n := loopsample.TripCount(s.cmp, s.typ, x, step, y, s.goesOn)
		switch {
		case s.estimated && common >= 0 && n >= 0:
			n = min(n, common) // what is left of those with more is executed
		case n < 0 || common >= 0 && n != common:
			return 0
		}
		common = n
	}
	return max(common, 0)
}

// next is what the next comparison of a lane compares, and how much the induction
// grows in an iteration; before is what it was one iteration earlier.
func (c *slotTest) next(w *warp, l int, before uint64) (x, step, y uint64) {
	x = w.get(c.induct, l)
	step, y = x-before, c.imm
	if c.limit.file != fileNone {
		y = w.get(c.limit, l)
	}
	if !c.ahead {
		x += step
	}
	return x, step, y
}

// unchanged is how many more comparisons of a guard find, in each lane, what the
// last one found; 0 when that cannot be told.
func (r *Runner) unchanged(w *warp, mask uint32, c *slotTest, before *[WarpSize]uint64) int64 {
	least := int64(math.MaxInt64)
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		x, step, y := c.next(w, l, before[l])
		held := loopsample.TripCount(c.cmp, c.typ, x-step, step, y, true)
		if held == 0 {
			held = loopsample.TripCount(c.cmp, c.typ, x-step, step, y, false)
		}
		least = min(least, max(held-1, 0))
	}
	return least
}
