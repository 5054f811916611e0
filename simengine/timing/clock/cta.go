package clock

import (
	"github.com/warptune/warptune/simengine/timing"
	"github.com/warptune/warptune/simengine/timing/cost"
	"github.com/warptune/warptune/simengine/timing/dram"
	"github.com/warptune/warptune/simengine/timing/pending"
)

// schedule plans the next CTA launch into a slot, no earlier than at.
func (s *sm) schedule(slot int32, at int64) {
	c := &s.ctas[slot]
	c.launchAt = never
	if s.launched >= s.target {
		return
	}
	s.launched++
	if s.stagger {
		at = max(at, int64(s.pace))
		s.pace = max(s.pace, float64(at)) + s.interval
	}
	c.launchAt = at
	s.nextLaunch = min(s.nextLaunch, at)
}

// launchDue starts the CTAs whose time has come.
func (s *sm) launchDue() {
	if s.nextLaunch > s.now {
		return
	}
	s.nextLaunch = never
	for i := range s.ctas {
		if c := &s.ctas[i]; c.launchAt <= s.now {
			c.launchAt = never
			s.launch(int32(i))
		}
		s.nextLaunch = min(s.nextLaunch, s.ctas[i].launchAt)
	}
}

// launch fills a slot with the next CTA: a replica of the sample whose turn it is, with private
// data at addresses of its own.
func (s *sm) launch(slot int32) {
	n := s.stats.loop.launched
	s.stats.loop.launched++
	sample := s.set.samples[(s.first+n)%int64(len(s.set.samples))]
	if s.sharing.some {
		sample = s.set.samples[s.sharing.place(s.before+n, int64(len(s.ctas)), s.set.plan.Passing, &s.ctas[slot].shift)]
	}
	perCTA := s.in.WarpsPerCTA
	c := &s.ctas[slot]
	c.began, c.alive, c.arrived, c.running, c.sent = s.now, int32(perCTA), 0, true, 0
	if s.c.async || s.c.named {
		c.ctaAsync.reset(sample.exchange)
		c.expectWrites(sample.writes)
	}
	for k := range perCTA {
		i := int(slot)*perCTA + k
		w := &s.warps[i]
		w.tr, w.first, w.weight = &sample.Warps[k], sample.First[k], sample.Weight[k]
		w.step, w.next, w.issued, w.waiting = -1, 0, s.now-1, false
		w.copies, w.sent = pending.Groups[int64]{}, 0
		if s.c.async {
			w.warpAsync, w.barrierOf = warpAsync{}, sample.barrierOf[k]
		}
		w.shift, w.round = uint64(n+1)<<privateShift, 0
		if s.set.plan.Passing {
			w.round = uint64(n/int64(len(s.ctas))) << privateShift
		}
		w.loops.reset(n < int64(len(s.ctas)))
		if s.c.async && w.loops.before == nil {
			w.loops.before = new([cost.MaxHeads]beginnings)
		}
		clear(s.score[w.row : int(w.row)+s.c.stride])
		if s.reads != nil {
			clear(s.reads[w.row : int(w.row)+s.c.stride])
		}
		p := &s.subs[w.sub]
		p.rank[w.slot] = s.now - 1
		if s.nextStep(w) {
			s.prepareIssue(w, s.now)
			p.await(w.slot)
			p.wake = min(p.wake, max(p.ready[w.slot], s.now))
		} else {
			s.exit(w)
		}
	}
}

// exit ends a warp, and with the last one its CTA.
func (s *sm) exit(w *warp) {
	p := &s.subs[w.sub]
	p.park(w.slot, timing.Idle)
	c := &s.ctas[w.cta]
	s.stats.active += max(s.now+1, w.sent) - c.began // a warp stays until its stores have left
	if s.c.async {
		c.late = max(c.late, s.now+w.loops.extra)
	}
	w.loops.close(&s.stats, s.c.async)
	c.alive--
	if c.alive > 0 {
		if s.c.async || s.c.named {
			s.releaseNamed(w.cta)
		} else {
			s.release(w.cta)
		}
		return
	}
	if s.c.async && w.loops.count { // the CTA ends when the last of its warps would
		s.stats.loop.extra += c.late - s.now
		s.stats.loop.warps++
	}
	c.running = false
	s.done = append(s.done, s.now)
	// The slot is free when the CTA's stores have left the SM: a CTA of 32
	// warps that only store holds it 100 ns longer than one of one warp,
	// 4.6 cycles a line (deploy/calibrate launch.turnaround store, less empty).
	s.schedule(w.cta, max(s.now+1, c.sent)+s.vacancy)
}

// arrive parks a warp at its CTA's barrier.
func (s *sm) arrive(w *warp) {
	p := &s.subs[w.sub]
	w.waiting, w.resume = true, p.ready[w.slot]
	p.park(w.slot, timing.Barrier)
	p.parked++
	s.ctas[w.cta].arrived++
	s.barrier.Serve(s.now, s.m.LatBarrierWarp)
	s.release(w.cta)
}

// release lets the warps of a CTA go on if all that have not exited have arrived.
func (s *sm) release(slot int32) {
	c := &s.ctas[slot]
	if c.arrived == 0 || c.arrived < c.alive {
		return
	}
	c.arrived = 0
	at := max(s.now, s.barrier.Free()-s.m.LatBarrierWarp/dram.Fraction) + s.m.LatBarrier
	perCTA := s.in.WarpsPerCTA
	for i := int(slot) * perCTA; i < (int(slot)+1)*perCTA; i++ {
		w := &s.warps[i]
		if !w.waiting {
			continue
		}
		w.waiting = false
		p := &s.subs[w.sub]
		p.ready[w.slot] = max(at, w.resume)
		p.parked--
		p.await(w.slot)
		p.wake = min(p.wake, p.ready[w.slot])
	}
}
