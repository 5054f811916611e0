package clock

import (
	"math/bits"

	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/timing"
	"github.com/warptune/warptune/simengine/timing/cost"
	"github.com/warptune/warptune/simengine/timing/dram"
)

// issue lets a sub-partition issue in the current cycle: of the warps that can, the
// oldest, but none twice in a row while others can, too (deploy/calibrate
// together.turns: of eight that always could, two after two are done). Where traces leave
// out iterations it is the one that has waited longest: they are charged at the pace
// that warps have together.
func (s *sm) issue(p *subPartition) {
	now := s.now
	if open := p.open / dram.Fraction; now < open {
		p.wake = open
		return
	}
	p.settle(now, &s.stats)
	issued := false
	for width := 0; width < s.m.IssueWidth; width++ {
		best, more, next, reason := p.choose(now)
		if best < 0 {
			p.wake, p.reason = next, reason
			break
		}
		if !issued {
			issued = true
			s.stats.issued++
			p.visited = now
		} else {
			s.stats.loop.dual++
		}
		p.wake = never
		s.execute(p, best) // which may wake others of the sub-partition
		p.reason = reason
		if more {
			p.wake = now + 1
			continue
		}
		at, why := p.ready[best], p.why[best]
		if at < next {
			next, p.reason = at, why
		}
		p.wake = min(p.wake, next)
	}
	if issued {
		p.wake = max(p.wake, now+1, p.open/dram.Fraction)
	} else {
		s.stats.slots[p.reason]++
		p.visited = now
	}
}

// settle charges the slots since the last visit to the reason found then.
func (p *subPartition) settle(now int64, st *stats) {
	if gap := now - 1 - p.visited; gap > 0 {
		st.slots[p.reason] += gap
		p.visited = now - 1
	}
}

// choose looks at the warps that the scoreboard lets issue. It returns the slot to issue from,
// -1 for none; whether other warps could issue, too; and otherwise when the next one can and
// what it waits for. Of what comes at the same time the lowest slot counts.
func (p *subPartition) choose(now int64) (best int, more bool, next int64, reason timing.StallReason) {
	next, reason = never, timing.Idle
	held, open := timing.MaxSlots, uint64(0)
	for m := p.eligible(now); m != 0; {
		i := bits.TrailingZeros64(m)
		g := p.port[i]
		same := p.due[g]
		m &^= same
		t := p.freeAt(g)
		if t <= now {
			open |= same
			continue
		}
		if t < next {
			next, reason, held = t, throttles[g], i
		}
	}
	if n := len(p.pending); n > 0 {
		if at, i := p.pending[n-1].split(); at < next || at == next && i < held {
			next, reason = at, p.why[i]
		}
	} else if next == never && p.parked > 0 {
		reason = timing.Barrier
	}
	more = open&(open-1) != 0
	if more {
		open &^= 1 << uint(p.latest) // none at first
	}
	return p.first(open), more, next, reason
}

// first is the slot of a set whose turn it is, the lowest of those of one rank; -1 when there is none.
func (p *subPartition) first(set uint64) int {
	if set == 0 {
		return -1
	}
	best := bits.TrailingZeros64(set)
	for set &= set - 1; set != 0; set &= set - 1 {
		if i := bits.TrailingZeros64(set); p.rank[i] < p.rank[best] {
			best = i
		}
	}
	return best
}

// execute issues the next op of the warp in a slot.
func (s *sm) execute(p *subPartition, slot int) {
	now := s.now
	w := &s.warps[p.warp[slot]]
	o := &s.c.ops[w.pc]
	if s.profile != nil {
		s.profile.issue(now, p, w, slot)
	}
	s.account(p, w, slot)
	if w.recent != nil {
		w.recent[w.pc%cost.RecentIssues] = now
	}
	p.leave(slot)
	s.stats.classes[o.class]++
	s.occupy(p, w, o, slot)
	if s.m.IssueWidth == 1 || o.slots > dram.Fraction { // of two at a time neither waits for the other's cycle
		p.open = max(p.open, now*dram.Fraction) + int64(o.slots)
		w.holds = (p.open + dram.Fraction - 1) / dram.Fraction
	}
	result, kind, fetch, why, held := s.carryOut(p, w, o)
	for _, col := range s.c.deps[o.dst0:o.dst1] {
		s.score[w.row+col] = result<<2 | int64(kind)
	}
	if o.class == assemble.AsyncCopy {
		for _, col := range s.c.deps[o.dep0:o.dst0] {
			s.reads[w.row+col] = max(s.reads[w.row+col], p.began+cost.OperandsRead)
		}
	}
	for _, col := range s.c.deps[o.dst1:o.dst2] {
		s.score[w.row+col] = (result+int64(o.later))<<2 | int64(kind)
	}
	p.cover(o.port, now)
	switch o.pipe {
	case cost.PipeMemory: // is behind two ports
		p.cover(port(cost.PipeMemory)+portLG-o.port, now)
	case cost.PipeALU:
		p.cover(port(cost.PipeFMA), now)
	}
	s.proceed(w, p, o, fetch, why, held)
}

// occupy has the instruction's pipe be taken, as long as it takes.
func (s *sm) occupy(p *subPartition, w *warp, o *op, slot int) {
	if o.pipe == cost.PipeNone {
		return
	}
	now := s.now
	p.taken[o.port] = int32(slot)
	if o.class == assemble.Wgmma {
		p.product = max(p.product, now*dram.Fraction)
		s.product(p, w, o, p.product/dram.Fraction)
		p.product, p.slows = p.product+int64(o.interval), o.slows
		p.free[o.pipe] = p.product - cost.QueuedProducts*int64(o.interval)
	} else {
		p.free[o.pipe] = max(p.free[o.pipe], now*dram.Fraction) + p.besideProduct(o, now)
	}
	w.port, w.portHeld = o.port, p.free[o.pipe]/dram.Fraction
	if o.class == assemble.Wgmma { // of products that take turns, those of other warpgroups are not its own
		w.portHeld = now + int64(o.interval)/dram.Fraction
	}
	s.stats.pipeBusy[o.pipe] += int64(o.interval)
	if o.pipe == cost.PipeALU && s.m.DualFP32Int {
		// Half of the fp32 lanes are busy: half an instruction less of them.
		p.free[cost.PipeFMA] = max(p.free[cost.PipeFMA], now*dram.Fraction) + int64(o.interval)/2
	}
}

// carryOut returns when an instruction's result is there and of what kind it is, when
// the warp's next one may issue, and for what it waits until then.
func (s *sm) carryOut(p *subPartition, w *warp, o *op) (result int64, kind cost.ResultKind, fetch int64, why timing.StallReason, held hold) {
	now := s.now
	result, kind = now+int64(o.latency), o.kind
	fetch, why, held = now+1, timing.Wait, holdNone
	if o.class == assemble.Barrier {
		held, w.holdOn = holdBarrier, s.barrierAt(w, o)
	}
	if s.m.IssueWidth > 1 {
		fetch = now
	}
	switch o.class {
	case assemble.Load, assemble.Store, assemble.Atomic, assemble.AsyncCopy, assemble.LDC, assemble.Shuffle, assemble.S2R:
		result, kind = s.memory(p, w, o)
		if o.word {
			fetch, held = s.atWord(w, o, fetch)
		}
	case assemble.Branch:
		fetch, why = now+int64(o.latency), timing.BranchResolving
		if o.slowPath > 0 {
			s.enterSlowPath(w, o.slowPath-1)
		}
	case assemble.Yield:
		fetch, why = now+cost.YieldCycles, timing.BranchResolving
	case assemble.Fence:
		if at, reason, ok := s.asyncControl(w, o, fetch); ok {
			fetch, why = at, reason
		} else {
			fetch, why = s.fence(w, o), timing.Membar
		}
	case assemble.Control:
		fetch, why = s.control(w, o, fetch)
	case assemble.Wgmma:
		result, kind = now+1, cost.ResultFixed
		fetch = now + int64(o.next)
	case assemble.Bulk:
		fetch = s.bulk(w, o, fetch)
	case assemble.Mbarrier:
		fetch = s.atMbarrier(w, o, fetch)
	case assemble.MbarWait:
		if fetch, held = s.waitMbarrier(w, o); held == holdNone {
			why = timing.LongScoreboard
		}
	case assemble.ClusterBarrier:
		if fetch, held = s.atCluster(w, o, fetch); held == holdNone {
			why = timing.Barrier
			if o.arrives {
				why = timing.Membar
			}
		}
	}
	return result, kind, fetch, why, held
}

// besideProduct is how long an op that is not a product of a warpgroup holds its pipe, steps: longer while the tensor core
// is at work on one, which single-precision arithmetic delays in turn (cost.SlowedBeside).
func (p *subPartition) besideProduct(o *op, now int64) int64 {
	hold := int64(o.interval)
	if p.product <= now*dram.Fraction || !p.slows {
		return hold
	}
	if o.pipe == cost.PipeFMA {
		p.product += cost.DelaysProduct
		p.free[cost.PipeTensor] += cost.DelaysProduct
	}
	return int64(float64(hold) * cost.SlowedBeside(o.pipe))
}

// fence is when a warp that fences can go on. Beyond the CTA the fence goes to L2
// and back, once L2 has acknowledged the warp's stores: 271 cycles alone and 538
// behind a store (deploy/calibrate meetings.fence).
func (s *sm) fence(w *warp, o *op) int64 {
	if !o.wide {
		return s.now + s.m.LatFenceCTA
	}
	at := s.now
	if w.sent > 0 {
		at = max(at, w.sent+s.m.LatL2)
	}
	at += s.m.LatFenceGPU
	if s.c.async {
		at += s.behindCopies()
	}
	return at
}

// proceed moves a warp past the op it issued. It can fetch the next one at cycle fetch, and
// shows why until then.
func (s *sm) proceed(w *warp, p *subPartition, o *op, fetch int64, why timing.StallReason, held hold) {
	w.pc++
	for w.pc == w.end {
		if !s.nextPath(w) && !s.nextStep(w) {
			s.exit(w) // a barrier as the last instruction holds nobody
			return
		}
	}
	s.prepareIssue(w, fetch)
	if p.why[w.slot] == timing.Wait && p.ready[w.slot] == fetch {
		p.why[w.slot] = why
	}
	switch {
	case held == holdNone:
		p.await(w.slot)
	case held != holdBarrier:
		s.park(w, held)
	case s.c.async || s.c.named:
		s.meetNamed(w, o)
	default:
		s.arrive(w)
	}
}

// charge charges the cycles since the last issue of a slot's warp, times so many, to what held it: what it needed, then
// the issue slot and the port that its own last instruction held, which the compiler's stall count of that one has it
// wait for. In the cycles after that the port of its next instruction was busy with others', or it was another warp's turn.
func (p *subPartition) charge(w *warp, slot int, now, times int64, stalls *[timing.NumStallReasons]int64) {
	t := w.issued + 1
	until := func(end int64, why timing.StallReason) {
		if end = min(end, now); end > t {
			stalls[why] += (end - t) * times
			t = end
		}
	}
	if until(p.ready[slot], p.why[slot]); t >= now {
		return
	}
	own, blocked := w.holds, p.blocked(slot, now)
	if w.port == p.port[slot] {
		own = max(own, w.portHeld)
	}
	before := t
	if until(own, timing.Wait); w.port == p.port[slot] {
		blocked -= max(min(t, w.portHeld)-before, 0) // counted as its own
	}
	until(t+blocked, p.throttle(slot))
	until(now, timing.NotSelected)
}

// account charges the cycles since the warp's last issue to what held it.
func (s *sm) account(p *subPartition, w *warp, slot int) {
	p.charge(w, slot, s.now, 1, &w.loops.stalled)
	w.issued, p.latest = s.now, slot
	if s.set.skips {
		p.rank[slot] = s.now
	}
}

// control handles groups of cp.async, and instructions that only take an issue slot.
func (s *sm) control(w *warp, o *op, fetch int64) (int64, timing.StallReason) {
	if o.async != ir.OpInvalid {
		if at, why, ok := s.asyncControl(w, o, fetch); ok {
			return at, why
		}
	}
	switch {
	case o.commit:
		w.copies.Commit()
	case o.pending >= 0:
		at := w.copies.Until(int(o.pending))
		if o.pending == 0 {
			at = w.copies.Latest()
		}
		return max(fetch, at), timing.LongScoreboard
	}
	return fetch, timing.Wait
}

// prepareIssue works out when the warp's next op can issue, and why not before;
// subPartition.await tells the scheduler.
func (s *sm) prepareIssue(w *warp, fetch int64) {
	o := &s.c.ops[w.pc]
	latest := fetch << 2
	row := s.score[w.row : int(w.row)+s.c.stride]
	for _, col := range s.c.deps[o.dep0:o.dep1] {
		latest = max(latest, row[col])
	}
	p := &s.subs[w.sub]
	if s.reads != nil {
		reads := s.reads[w.row : int(w.row)+s.c.stride]
		for _, col := range s.c.deps[o.dst0:o.dst1] {
			latest = max(latest, reads[col]<<2|int64(cost.ResultLong))
		}
	}
	p.ready[w.slot], p.why[w.slot] = latest>>2, resultStall[latest&3]
	p.port[w.slot] = o.port
}
