package clock

import (
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/timing/coalesce"
	"github.com/warptune/warptune/simengine/timing/cost"
	"github.com/warptune/warptune/simengine/trace"
)

// nextStep moves a warp to the next step of its trace that has machine code. It reports whether
// there is one.
func (s *sm) nextStep(w *warp) bool {
	for {
		w.step = w.next
		if int(w.step) >= len(w.tr.Steps) {
			return false
		}
		k := &w.tr.Steps[w.step]
		w.next = w.step + 1
		if k.Repeat > 0 {
			w.loops.skip(s.now, k)
			if s.set.plan.Displacing {
				s.touchLeftOut(w)
			}
			continue
		}
		w.loops.arrive(s.now, k.Block, s.c)
		b := s.c.root[k.Block]
		if b != k.Block {
			continue // ran with its carrier
		}
		s.window(w, b)
		w.pc, w.end = s.c.start[b], s.c.start[b+1]
		if w.pc < w.end {
			return true
		}
	}
}

// touchLeftOut gives room in L1 to what the loop iterations left out at the warp's present step
// touch, which evicts what was there.
func (s *sm) touchLeftOut(w *warp) {
	if o, ok := coalesce.LeftOutAt(w.tr, w.step); ok {
		o.Touch(w.tr, int64(s.in.L1Lines()), s.keeps, func(a *trace.Access, line uint64) {
			s.l1.Take(s.address(w, a, line, s.shift(w, a)))
		})
	}
}

// keeps reports whether an access takes room in L1.
func (s *sm) keeps(a *trace.Access) bool {
	in := &s.c.program.Kernel.Instrs[a.PC]
	return a.Space == ir.Global && in.Op != ir.Atom && in.Op != ir.Red && !cost.BypassesL1(in)
}

// window finds the accesses of a step: its own and those of the blocks merged into it, whose
// steps follow at once.
func (s *sm) window(w *warp, b int32) {
	steps := w.tr.Steps
	w.accLo = steps[w.step].Access
	for int(w.next) < len(steps) && steps[w.next].Repeat == 0 && steps[w.next].Block != b && s.c.root[steps[w.next].Block] == b {
		w.next++
	}
	w.accHi = int32(len(w.tr.Accesses))
	if int(w.next) < len(steps) {
		w.accHi = steps[w.next].Access
	}
	w.accHi = max(w.accHi, coalesce.HeldEnd(w.tr, s.c.root, int(w.next), s.c.program.Blocks[b].Holds))
	w.accCur = w.accLo
	if s.c.async {
		w.asyncLo, w.asyncHi = steps[w.step].Async, int32(len(w.tr.Asyncs))
		if int(w.next) < len(steps) {
			w.asyncHi = steps[w.next].Async
		}
	}
}

// access finds the current step's access of a PTX instruction, nil when no lane
// performed it. Machine code is reordered, so the search goes on from the last
// one found and around.
func (w *warp) access(source int32) *trace.Access {
	for i := w.accCur; i < w.accHi; i++ {
		if w.tr.Accesses[i].PC == source {
			w.accCur = i + 1
			return &w.tr.Accesses[i]
		}
	}
	for i := w.accLo; i < w.accCur; i++ {
		if w.tr.Accesses[i].PC == source {
			w.accCur = i + 1
			return &w.tr.Accesses[i]
		}
	}
	return nil
}
