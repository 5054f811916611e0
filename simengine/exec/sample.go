package exec

import (
	"math/bits"

	"github.com/warptune/warptune/simengine/ir"
)

// loopRun is one warp's passage through one loop.
type loopRun struct {
	active  bool
	settled bool // sampled already, or found that it cannot be
	mask    uint32
	rounds  int   // iterations finished
	entries int32 // times this loop was entered

	// induct and carried are what the registers held at the header one
	// iteration before the one at which the decision falls.
	induct  [WarpSize]uint64
	carried [][WarpSize]uint64
}

// loopKey names one passage through a loop, the same for all warps of a CTA.
type loopKey struct {
	loop  int32
	entry int32
}

// sampler is a loop resolved to slots.
type sampler struct {
	carried []slot
	induct  slot
	limit   slot
	imm     uint64
	typ     ir.Type
	cmp     ir.Cmp
	goesOn  bool
	ahead   bool
	keep    int64 // comparisons to leave that still continue the loop
	barrier bool
	head    int
}

// samplers resolves the loops that can be sampled; nil for the others.
func (c *compiler) samplers() {
	c.p.samplers = make([]*sampler, len(c.p.Loops))
	for i := range c.p.Loops {
		l := &c.p.Loops[i]
		if !l.CanSample() {
			continue
		}
		t := &l.test
		s := &sampler{typ: t.typ, cmp: t.cmp, goesOn: t.goesOn, ahead: t.ahead, keep: 2, barrier: l.Barriers, head: l.Head, limit: noSlot}
		if t.latch {
			s.keep = 1
		}
		for _, r := range l.carried {
			s.carried = append(s.carried, c.slots[r])
		}
		s.induct = c.slots[t.induct.Reg]
		if t.limit.Kind == ir.OperandReg {
			s.limit = c.slots[t.limit.Reg]
		} else {
			s.imm = t.limit.Imm
		}
		c.p.samplers[i] = s
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
	for n := len(w.inLoops); n > 0 && !r.p.Loops[w.inLoops[n-1]].blocks[at]; n-- {
		w.loops[w.inLoops[n-1]].active = false
		w.inLoops = w.inLoops[:n-1]
	}
	i := r.p.headOf[at]
	if i < 0 {
		return
	}
	s := r.p.samplers[i]
	if s == nil || s.barrier && r.noBarrierLoops {
		return
	}
	run := &w.loops[i]
	if !run.active || t.mask&^run.mask != 0 {
		if !run.active {
			w.inLoops = append(w.inLoops, i)
		}
		run.active, run.settled, run.mask, run.rounds = true, false, t.mask, 0
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
	case run.rounds == first-1:
		run.remember(w, s)
	case run.rounds == first:
		run.settled = true
		r.leaveOut(w, run, s, i)
	}
}

// remember saves the registers from which the steps of an iteration are taken.
func (run *loopRun) remember(w *warp, s *sampler) {
	if len(run.carried) < len(s.carried) {
		run.carried = make([][WarpSize]uint64, len(s.carried))
	}
	for n, c := range s.carried {
		w.copyOut(&run.carried[n], c)
	}
	w.copyOut(&run.induct, s.induct)
}

func (w *warp) copyOut(d *[WarpSize]uint64, s slot) {
	if s.file == file64 {
		*d = w.r64[s.index]
		return
	}
	widen(d, &w.r32[s.index], false)
}

// leaveOut works out how many iterations are left and skips all but the last.
func (r *Runner) leaveOut(w *warp, run *loopRun, s *sampler, loop int32) {
	n := r.remaining(w, run, s) - s.keep
	if s.barrier {
		key := loopKey{loop, run.entries}
		if agreed, ok := r.agreed[key]; !ok {
			r.agreed[key] = n
		} else if agreed != n {
			r.disagree = true
			return
		}
	}
	if n < 1 {
		return
	}
	for i, c := range s.carried {
		for m := run.mask; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			v := w.get(c, l)
			w.put(c, l, v+uint64(n)*(v-run.carried[i][l]))
		}
	}
	if r.obs != nil {
		r.obs.Repeat(w.id, s.head, n)
	}
}

// remaining is the number of comparisons that will still continue the loop,
// the same for all lanes, or 0 when it differs or cannot be told.
func (r *Runner) remaining(w *warp, run *loopRun, s *sampler) int64 {
	common := int64(-1)
	var lastX, lastStep, lastY uint64
	for m := run.mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		x := w.get(s.induct, l)
		step := x - run.induct[l]
		y := s.imm
		if s.limit.file != fileNone {
			y = w.get(s.limit, l)
		}
		if common >= 0 && x == lastX && step == lastStep && y == lastY {
			continue
		}
		lastX, lastStep, lastY = x, step, y
		if !s.ahead {
			x += step
		}
		n := tripCount(s.cmp, s.typ, x, step, y, s.goesOn)
		if n < 0 || common >= 0 && n != common {
			return 0
		}
		common = n
	}
	return max(common, 0)
}
