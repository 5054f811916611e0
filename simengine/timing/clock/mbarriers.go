package clock

import (
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/timing/cost"
	"github.com/warptune/warptune/simengine/trace"
)

// atMbarrier is an op on mbarriers that waits for nothing.
func (s *sm) atMbarrier(w *warp, o *op, fetch int64) int64 {
	c := &s.ctas[w.cta]
	n := s.asyncs(w, o.source, func(a *trace.Async, bar int32) {
		if bar < 0 || int(bar) >= len(c.mbarriers) {
			return
		}
		b := &c.mbarriers[bar]
		at, arrivals := s.now+s.m.Arrive, int64(cost.Arrivals(a.Lanes, a.Count))
		if a.CTA >= 0 && s.in.Cluster > 1 {
			at = s.now + s.m.Remote
		}
		switch o.async {
		case ir.MbarInit:
			*b = mbarrier{Expected: int64(a.Count), Pending: int64(a.Count), Done: s.now}
			return
		case ir.MbarInval:
			return
		case ir.MbarExpect:
			if o.completes {
				b.Bytes -= cost.Expected(a)
			} else {
				s.expect(c, bar, a)
			}
			arrivals, at = 0, s.now
		case ir.CpAsyncArrive:
			at = w.copies.Latest() + s.m.Arrive
			if !o.all { // with .noinc the count has them
				arrivals = 0
			}
		default:
			s.expect(c, bar, a)
			if o.drops {
				b.Expected -= arrivals
			}
		}
		s.arriveAt(w.cta, bar, arrivals, at)
	})
	if n == 0 {
		return fetch
	}
	return max(fetch, s.now+s.m.Arrival)
}

// expect adds to the bytes that an mbarrier expects. Those that other CTAs of the cluster send come as soon as a copy that
// is asked for now.
func (s *sm) expect(c *ctaSlot, bar int32, a *trace.Async) {
	b := &c.mbarriers[bar]
	b.Bytes += cost.Expected(a)
	if sent := c.exchange[bar].Sent(a); sent > 0 {
		b.Bytes -= sent
		b.Last = max(b.Last, s.now+s.m.LatL2+s.m.BulkExtra)
	}
}

// delivered is the bytes that a copy brings to an mbarrier of its CTA, with those of other CTAs that do the same.
func (s *sm) delivered(slot, bar int32, a *trace.Async) int64 {
	if bar < 0 {
		return int64(a.Bytes)
	}
	return s.ctas[slot].exchange[bar].Delivered(a.Bytes, a.To)
}

// deliver brings bytes to an mbarrier at a cycle.
func (s *sm) deliver(slot, bar int32, bytes, at int64) {
	c := &s.ctas[slot]
	if bar < 0 || int(bar) >= len(c.mbarriers) {
		return
	}
	c.mbarriers[bar].Bytes -= bytes
	s.arriveAt(slot, bar, 0, at)
}

// arriveAt brings arrivals to an mbarrier at a cycle, and lets warps go on if they end its phase.
func (s *sm) arriveAt(slot, bar int32, n, at int64) {
	if b := &s.ctas[slot].mbarriers[bar]; b.Arrive(n, at) {
		s.wakeUp(slot, holdMbarrier, bar, b.Done+s.m.Wake)
	}
}

// waitMbarrier is a wait for a phase: when the warp can go on, or what holds it.
func (s *sm) waitMbarrier(w *warp, o *op) (at int64, h hold) {
	c := &s.ctas[w.cta]
	at = s.now + s.m.Wait
	for i := w.asyncLo; i < w.asyncHi; i++ {
		a, bar := &w.tr.Asyncs[i], w.barrierOf[i]
		if a.PC != o.source || bar < 0 {
			continue
		}
		b := &c.mbarriers[bar]
		if b.Holds(a.Parity) {
			w.holdOn = int32(bar)
			return at, holdMbarrier
		}
		if b.Done > s.now {
			at = max(at, b.Done+s.m.Wake)
		}
	}
	return at, holdNone
}

// atWord is an access to a word of shared memory by which warps wait for each other (trace.Handover): when the warp can go
// on, or what holds it.
func (s *sm) atWord(w *warp, o *op, fetch int64) (at int64, h hold) {
	c := &s.ctas[w.cta]
	at = fetch
	s.asyncs(w, o.source, func(a *trace.Async, bar int32) {
		if bar < 0 || int(bar) >= len(c.mbarriers) || a.Word == trace.NoWord {
			return
		}
		b := &c.mbarriers[bar]
		switch {
		case a.Word != trace.WordWait:
			written := s.now
			if a.Word == trace.WordArrival {
				written += s.m.WordArrival()
			}
			c.written[bar] = max(c.written[bar], written+w.loops.extra)
			if b.Arrive(1, written) {
				s.endWordWaits(w.cta, bar)
			}
		case b.Phases == 0:
			w.holdOn, h = bar, holdWord
		default:
			if b.Done > s.now {
				at = max(at, b.Done+s.m.WordWake())
			}
			w.loops.waitUntil(c.written[bar]+s.m.WordWake(), at)
		}
	})
	return at, h
}

// endWordWaits lets the warps go on that wait for the writes of a barrier.
func (s *sm) endWordWaits(slot, bar int32) {
	c := &s.ctas[slot]
	at, perCTA := c.mbarriers[bar].Done+s.m.WordWake(), s.in.WarpsPerCTA
	for i := int(slot) * perCTA; i < (int(slot)+1)*perCTA; i++ {
		if w := &s.warps[i]; w.waiting && w.hold == holdWord && w.holdOn == bar {
			s.goOn(w, at)
			w.loops.waitUntil(c.written[bar]+s.m.WordWake(), s.subs[w.sub].ready[w.slot])
		}
	}
}
