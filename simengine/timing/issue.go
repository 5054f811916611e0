package timing

import (
	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/timing/dram"
)

// issue lets a sub-partition issue in the current cycle: of the warps that can,
// the one that has waited longest (loose round robin).
func (s *sm) issue(p *subPartition) {
	now := s.now
	p.settle(now, &s.stats)
	issued := false
	for width := 0; width < s.m.issueWidth; width++ {
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
		s.execute(p, best)
		p.reason = reason
		if more {
			p.wake = now + 1
			continue
		}
		at, why := p.ready[best], p.why[best]
		if at < next {
			next, p.reason = at, why
		}
		p.wake = next
	}
	if issued {
		p.wake = max(p.wake, now+1)
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

// choose scans the slots. It returns the slot to issue from, or -1; whether
// other warps could issue too; and otherwise when the next one can and what it
// waits for.
func (p *subPartition) choose(now int64) (best int, more bool, next int64, reason StallReason) {
	best, next, reason = -1, never, Idle
	var oldest int64
	mioFree, lgFree := p.mio.free(), p.lg.free()
	why, on, last := p.why[:len(p.ready)], p.on[:len(p.ready)], p.last[:len(p.ready)]
	for i, r := range p.ready {
		if r > now {
			if r < next {
				next, reason = r, why[i]
			} else if next == never && why[i] == Barrier {
				reason = Barrier
			}
			continue
		}
		t := p.free[on[i]] / dram.Fraction
		if on[i] == pipeMemory {
			if p.queue[i] == LGThrottle {
				t = max(t, lgFree)
			} else {
				t = max(t, mioFree)
			}
		}
		if t > now {
			p.block[i] = t
			if t < next {
				next, reason = t, p.queue[i]
			}
			continue
		}
		if best >= 0 {
			more = true
		}
		if best < 0 || last[i] < oldest {
			best, oldest = i, last[i]
		}
	}
	return best, more, next, reason
}

// execute issues the next op of the warp in a slot.
func (s *sm) execute(p *subPartition, slot int) {
	now := s.now
	w := &s.warps[p.warp[slot]]
	o := &s.c.ops[w.pc]
	s.account(p, w, slot)
	s.stats.classes[o.class]++
	if o.pipe != pipeNone {
		p.free[o.pipe] = max(p.free[o.pipe], now*dram.Fraction) + int64(o.interval)
		s.stats.pipeBusy[o.pipe] += int64(o.interval)
		if o.pipe == pipeALU && s.m.dualFP32Int {
			// Half of the fp32 lanes are busy: half an instruction less of them.
			p.free[pipeFMA] = max(p.free[pipeFMA], now*dram.Fraction) + int64(o.interval)/2
		}
	}
	result, kind := now+int64(o.latency), o.kind
	fetch, why := now+1, Wait
	if s.m.issueWidth > 1 {
		fetch = now
	}
	switch o.class {
	case assemble.Load, assemble.Store, assemble.Atomic, assemble.AsyncCopy, assemble.LDC, assemble.Shuffle, assemble.S2R:
		result, kind = s.memory(p, w, o)
	case assemble.Branch:
		fetch, why = now+int64(o.latency), BranchResolving
	case assemble.Fence:
		fetch, why = s.fence(w, o), Membar
	case assemble.Control:
		fetch, why = s.control(w, o, fetch)
	}
	for _, col := range s.c.deps[o.dst0:o.dst1] {
		s.score[w.row+col] = result<<2 | int64(kind)
	}
	s.proceed(w, p, fetch, why, o.class == assemble.Barrier)
}

// fence is when a warp that fences can go on. Beyond the CTA the fence goes to L2
// and back, once L2 has acknowledged the warp's stores: 271 cycles alone and 538
// behind a store (deploy/calibrate meetings.fence).
func (s *sm) fence(w *warp, o *op) int64 {
	if !o.wide {
		return s.now + s.m.latFenceCTA
	}
	at := s.now
	if w.sent > 0 {
		at = max(at, w.sent+s.m.latL2)
	}
	return at + s.m.latFenceGPU
}

// proceed moves a warp past the op it issued.
func (s *sm) proceed(w *warp, p *subPartition, fetch int64, why StallReason, barrier bool) {
	w.pc++
	for w.pc == w.end {
		if !s.nextStep(w) {
			s.exit(w) // a barrier as the last instruction holds nobody
			return
		}
	}
	s.prepareIssue(w, fetch)
	if p.why[w.slot] == Wait && p.ready[w.slot] == fetch {
		p.why[w.slot] = why
	}
	if barrier {
		s.arrive(w)
	}
}

// account splits the cycles since the warp's last issue by what held it.
func (s *sm) account(p *subPartition, w *warp, slot int) {
	now := s.now
	t := w.issued + 1
	if r := min(p.ready[slot], now); r > t {
		w.loops.stalled[p.why[slot]] += r - t
		t = r
	}
	if b := min(p.block[slot], now); b > t {
		w.loops.stalled[p.queue[slot]] += b - t
		t = b
	}
	if now > t {
		w.loops.stalled[NotSelected] += now - t
	}
	w.issued, p.last[slot], p.block[slot] = now, now, 0
}

// control handles cp.async groups and instructions that only take a slot.
func (s *sm) control(w *warp, o *op, fetch int64) (int64, StallReason) {
	switch {
	case o.commit:
		w.async[w.groups%maxGroups] = w.open
		w.groups++
	case o.pending >= 0:
		at := fetch
		if o.pending == 0 {
			at = max(at, w.open)
		}
		for k := max(w.groups-maxGroups, 0); k < w.groups-int32(o.pending); k++ {
			at = max(at, w.async[k%maxGroups])
		}
		return at, LongScoreboard
	}
	return fetch, Wait
}

// prepareIssue works out when the warp's next op can issue, and why not before.
func (s *sm) prepareIssue(w *warp, fetch int64) {
	o := &s.c.ops[w.pc]
	latest := fetch << 2
	row := s.score[w.row : int(w.row)+s.c.stride]
	for _, col := range s.c.deps[o.dep0:o.dep1] {
		latest = max(latest, row[col])
	}
	p := &s.subs[w.sub]
	p.ready[w.slot], p.why[w.slot] = latest>>2, resultStall[latest&3]
	p.on[w.slot] = o.pipe
	p.queue[w.slot] = o.throttle()
}

// throttle is what a warp shows while its op waits for its pipe.
func (o *op) throttle() StallReason {
	switch {
	case o.class == assemble.Load || o.class == assemble.Store || o.class == assemble.Atomic || o.class == assemble.AsyncCopy:
		if isLG(o.space) {
			return LGThrottle
		}
		return MIOThrottle
	case o.pipe == pipeMemory || o.pipe == pipeXU:
		return MIOThrottle
	}
	return MathPipeThrottle
}
