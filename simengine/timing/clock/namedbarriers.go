package clock

import (
	"github.com/warptune/warptune/simengine/timing"
	"github.com/warptune/warptune/simengine/timing/dram"
	"github.com/warptune/warptune/simengine/trace"
)

// meetNamed is bar.sync and bar.arrive in kernels whose warps may meet at one of several barriers, by its number and how
// many threads it is for. Where the number is in a register, the trace tells it; of kernels that do not use the
// asynchronous units, warps that are as many as it is for and follow each other in the CTA are taken to meet.
func (s *sm) meetNamed(w *warp, o *op) {
	key := w.holdOn
	c := &s.ctas[w.cta]
	c.named[key]++
	s.barrier.Serve(s.now, s.m.LatBarrierWarp)
	if o.arrives {
		s.subs[w.sub].await(w.slot)
	} else {
		s.park(w, holdBarrier)
	}
	if c.named[key] < s.meets(c, o) {
		return
	}
	c.named[key] = 0
	at := max(s.now, s.barrier.Free()-s.m.LatBarrierWarp/dram.Fraction) + s.m.LatBarrier
	s.wakeUp(w.cta, holdBarrier, key, at)
}

// barrierAt is which of its CTA's barriers a warp is at; see meetNamed.
func (s *sm) barrierAt(w *warp, o *op) int32 {
	key := o.barrier
	if key < 0 && s.c.async {
		s.asyncs(w, o.source, func(a *trace.Async, _ int32) { key = a.Count & 15 })
	}
	if key >= 0 {
		return key
	}
	index := int32(0)
	if o.warps > 0 {
		index = w.index / o.warps
	}
	return 16 + min(index, timing.MaxSlots-1)
}

// meets is how many warps meet at an op's barrier.
func (s *sm) meets(c *ctaSlot, o *op) int32 {
	if o.warps > 0 && int(o.warps) < s.in.WarpsPerCTA {
		return o.warps
	}
	return c.alive
}

// releaseNamed lets the warps go on that wait for one that has exited.
func (s *sm) releaseNamed(slot int32) {
	c := &s.ctas[slot]
	perCTA := s.in.WarpsPerCTA
	for i := int(slot) * perCTA; i < (int(slot)+1)*perCTA; i++ {
		w := &s.warps[i]
		if w.waiting && w.hold == holdBarrier && c.named[w.holdOn] >= c.alive {
			c.named[w.holdOn] = 0
			s.wakeUp(slot, holdBarrier, w.holdOn, s.now+s.m.LatBarrier)
		}
	}
	s.completeCluster(slot)
}
