package clock

import (
	"math/bits"

	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/timing"
	"github.com/warptune/warptune/simengine/timing/cache"
	"github.com/warptune/warptune/simengine/timing/cost"
	"github.com/warptune/warptune/simengine/timing/dram"
	"github.com/warptune/warptune/simengine/trace"
)

// Asynchronous units beside the issue slots: the tensor cores' products of warpgroups, the engine of bulk copies,
// mbarriers, barriers of clusters.

// hold is what a warp waits for after an op, until others let it go on.
type hold uint8

const (
	holdNone hold = iota
	holdBarrier
	holdMbarrier
	holdCluster
)

// groups is groups of asynchronous operations of a warp: the cycle at which those committed are done, by number modulo
// cost.MaxGroups, and those that are still open.
type groups struct {
	done      [cost.MaxGroups]int64
	committed int32
	open      int64
}

func (g *groups) add(done int64) { g.open = max(g.open, done) }

func (g *groups) commit() {
	g.done[g.committed%cost.MaxGroups] = g.open
	g.committed++
}

// until is when no more than pending groups are under way.
func (g *groups) until(pending int32) (at int64) {
	for k := max(g.committed-cost.MaxGroups, 0); k < g.committed-pending; k++ {
		at = max(at, g.done[k%cost.MaxGroups])
	}
	return at
}

// warpAsync is what a warp has under way, and where it is in its asynchronous operations: those from asyncLo to asyncHi
// of the trace are the step's.
type warpAsync struct {
	products, stored, read groups // read: of stores, that shared memory has been read
	asyncLo, asyncHi       int32
	hold                   hold
	holdOn                 int32 // the barrier
	clusterPhase           int64 // phases of the cluster's barrier when the warp arrived
}

// mbarrier is one in shared memory. What arrives does so in the order of issue; when it does is known then.
type mbarrier struct {
	expected, pending int32 // arrivals of a phase, and those still to come of the present one
	bytes             int64 // still to come
	phases            int64 // completed
	last              int64 // cycle of the last arrival of the present phase
	done              int64 // cycle at which the last phase was complete
}

// ctaAsync is the barriers of a resident CTA.
type ctaAsync struct {
	mbarriers []mbarrier
	cluster   mbarrier
	named     [numNamed]int32 // warps that wait at each of the barriers of part of the CTA
	late      int64           // when its last warp would have ended with the iterations left out
}

// numNamed is the barriers by number, and those whose number only the warps know: one for each group of warps.
const numNamed = 16 + timing.MaxSlots

func (c *ctaAsync) reset() {
	clear(c.mbarriers)
	clear(c.named[:])
	c.cluster, c.late = mbarrier{}, 0
}

// product starts a warp's part of a product of its warpgroup, on the tensor core that it has waited for.
func (s *sm) product(w *warp, o *op, at int64) {
	s.lsu.Serve(at, int64(o.shared))
	w.products.add(at + int64(o.latency))
}

// asyncControl is Control and Fence ops of the asynchronous units: when the warp can go on, and what it shows until
// then. False: it is none.
func (s *sm) asyncControl(w *warp, o *op, fetch int64) (at int64, why timing.StallReason, ok bool) {
	switch o.async {
	case ir.WgmmaCommit:
		w.products.commit()
	case ir.WgmmaWait:
		return max(fetch, w.products.until(int32(o.pending))), timing.MathPipeThrottle, true
	case ir.WgmmaFence:
	case ir.BulkCommit:
		w.stored.commit()
		w.read.commit()
	case ir.BulkWait:
		g := &w.stored
		if o.reads {
			g = &w.read
		}
		return max(fetch, g.until(int32(o.pending))), timing.LongScoreboard, true
	case ir.Setmaxnreg:
		return s.now + s.m.Setmaxnreg, timing.Wait, true
	case ir.FenceProxy:
		return s.now + s.m.FenceProxy, timing.Membar, true
	default:
		return fetch, timing.Wait, false
	}
	return fetch, timing.Wait, true
}

// asyncs calls f for each operation of a PTX instruction in the warp's present step.
func (s *sm) asyncs(w *warp, source int32, f func(a *trace.Async, bar int32)) (n int) {
	for i := w.asyncLo; i < w.asyncHi; i++ {
		if a := &w.tr.Asyncs[i]; a.PC == source {
			n++
			f(a, int32(w.barrierOf[i]))
		}
	}
	return n
}

// atMbarrier is an op on mbarriers that waits for nothing.
func (s *sm) atMbarrier(w *warp, o *op, fetch int64) int64 {
	c := &s.ctas[w.cta]
	n := s.asyncs(w, o.source, func(a *trace.Async, bar int32) {
		if bar < 0 || int(bar) >= len(c.mbarriers) {
			return
		}
		b := &c.mbarriers[bar]
		at := s.now + s.m.Arrive
		if a.CTA >= 0 && s.in.Cluster > 1 {
			at = s.now + s.m.Remote
		}
		switch o.async {
		case ir.MbarInit:
			*b = mbarrier{expected: a.Count, pending: a.Count, done: s.now}
			return
		case ir.MbarInval:
			return
		case ir.MbarExpect:
			if o.completes {
				b.bytes -= int64(a.Bytes)
			} else {
				b.bytes += int64(a.Bytes)
			}
			b.last = max(b.last, s.now)
		case ir.CpAsyncArrive:
			b.last = max(b.last, max(w.open, w.latestCopy())+s.m.Arrive)
			if o.all { // .noinc: the count has them
				b.pending -= cost.Arrivals(a.Lanes, a.Count)
			}
		default:
			b.bytes += int64(a.Bytes)
			b.pending -= cost.Arrivals(a.Lanes, a.Count)
			if o.drops {
				b.expected -= cost.Arrivals(a.Lanes, a.Count)
			}
			b.last = max(b.last, at)
		}
		s.complete(w.cta, bar)
	})
	if n == 0 {
		return fetch
	}
	return max(fetch, s.now+s.m.Arrival)
}

// latestCopy is when the copies of the last group committed have arrived.
func (a *asyncCopies) latestCopy() int64 {
	if a.groups == 0 {
		return 0
	}
	return a.async[(a.groups-1)%cost.MaxGroups]
}

// deliver brings bytes to an mbarrier at a cycle.
func (s *sm) deliver(slot, bar int32, bytes, at int64) {
	c := &s.ctas[slot]
	if bar < 0 || int(bar) >= len(c.mbarriers) {
		return
	}
	b := &c.mbarriers[bar]
	b.bytes -= bytes
	b.last = max(b.last, at)
	s.complete(slot, bar)
}

// complete ends the phase of an mbarrier if all of it has arrived or is known to.
func (s *sm) complete(slot, bar int32) {
	b := &s.ctas[slot].mbarriers[bar]
	if b.pending > 0 || b.bytes > 0 {
		return
	}
	s.endPhase(b)
	s.wakeUp(slot, holdMbarrier, bar, b.done+s.m.Wake)
}

func (s *sm) endPhase(b *mbarrier) {
	b.phases++
	b.pending, b.bytes = b.expected, 0
	b.done, b.last = max(b.done, b.last), 0
}

// wakeUp lets the warps of a CTA go on that wait at a barrier.
func (s *sm) wakeUp(slot int32, h hold, on int32, at int64) {
	perCTA := s.in.WarpsPerCTA
	for i := int(slot) * perCTA; i < (int(slot)+1)*perCTA; i++ {
		w := &s.warps[i]
		if w.waiting && w.hold == h && w.holdOn == on {
			s.goOn(w, at)
		}
	}
}

// goOn lets a warp go on at a cycle.
func (s *sm) goOn(w *warp, at int64) {
	w.waiting, w.hold = false, holdNone
	p := &s.subs[w.sub]
	p.ready[w.slot] = max(at, w.resume)
	p.parked--
	p.await(w.slot)
	p.wake = min(p.wake, p.ready[w.slot])
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
		if b.phases&1 == int64(a.Parity) {
			w.holdOn = int32(bar)
			return at, holdMbarrier
		}
		if b.done > s.now {
			at = max(at, b.done+s.m.Wake)
		}
	}
	return at, holdNone
}

// atCluster is an arrival at the barrier of the cluster, or a wait for it. The other CTAs do as this one does. A warp
// whose arrival releases what it wrote stands still until that is done, as at a fence: cluster_norm's warps stand half of
// their time at one (shared/hopper h100/counters.jsonl.gz: stalled_membar).
func (s *sm) atCluster(w *warp, o *op, fetch int64) (at int64, h hold) {
	b := &s.ctas[w.cta].cluster
	if o.arrives {
		w.clusterPhase = b.phases
		b.pending++
		at := s.now
		if !o.relaxed {
			if w.sent > 0 {
				at = max(at, w.sent+s.m.LatL2)
			}
			at += max(s.m.ClusterRelease-s.m.ClusterBarrier, 0)
		}
		b.last = max(b.last, at+s.m.ClusterBarrier)
		s.completeCluster(w.cta)
		return max(fetch, at), holdNone
	}
	if b.phases == w.clusterPhase {
		w.holdOn = 0
		return fetch, holdCluster
	}
	return max(fetch, b.done), holdNone
}

// completeCluster ends a phase of the cluster's barrier if all warps that have not exited have arrived.
func (s *sm) completeCluster(slot int32) {
	c := &s.ctas[slot]
	b := &c.cluster
	if b.pending == 0 || b.pending < c.alive {
		return
	}
	b.pending, b.expected = 0, 0
	b.phases++
	b.done, b.last = max(b.done, b.last), 0
	s.wakeUp(slot, holdCluster, 0, b.done)
}

// park leaves a warp out of the schedule until its hold ends.
func (s *sm) park(w *warp, h hold) {
	p := &s.subs[w.sub]
	w.waiting, w.hold, w.resume = true, h, p.ready[w.slot]
	p.parked++
	if h == holdMbarrier {
		p.park(w.slot, timing.LongScoreboard)
	} else {
		p.park(w.slot, timing.Barrier)
	}
}

// bulk starts the bulk copies of an op's threads, and returns when their warp can go on.
func (s *sm) bulk(w *warp, o *op, fetch int64) int64 {
	in := &s.c.program.Kernel.Instrs[o.source]
	from, issue := w.accLo, s.m.BulkIssue
	n := s.asyncs(w, o.source, func(a *trace.Async, bar int32) {
		var access *trace.Access
		for ; from < w.accHi && access == nil; from++ {
			if k := &w.tr.Accesses[from]; k.PC == o.source {
				access = k
			}
		}
		switch {
		case in.Bulk == nil:
		case in.Bulk.To == ir.Global && in.Bulk.From != ir.Global:
			issue = s.m.BulkStoreIssue
			taken := s.bulkStore(w, in, access)
			w.read.add(taken)
			w.stored.add(taken + s.m.BulkStored)
		default:
			at := s.bulkLoad(w, in, a, access) + s.m.BulkExtra
			s.deliver(w.cta, bar, cost.Delivered(a.Bytes, a.To), at)
			if bar < 0 {
				w.read.add(at)
				w.stored.add(at)
			}
		}
	})
	if n == 0 {
		return fetch
	}
	return max(fetch, s.now+int64(n)*issue)
}

// bulkLoad is when the data of a bulk copy is in shared memory.
func (s *sm) bulkLoad(w *warp, in *ir.Instr, c *trace.Async, a *trace.Access) int64 {
	if a == nil || in.Bulk.From != ir.Global && in.Op == ir.BulkCopy {
		lines := int64(c.Bytes+cache.LineBytes-1) / cache.LineBytes
		_, end := s.network.Serve(s.now, lines*s.m.ClusterStorePass)
		return end + s.m.ClusterLoad
	}
	st := &s.stats.byPC[a.PC]
	before := *st
	begin, end := s.copies.Serve(s.now, int64(a.Sectors)*s.m.BulkSector)
	done := end + s.m.LatL2
	shift := s.shift(w, a)
	for k := a.First; k < a.First+int32(a.NLines); k++ {
		l := &w.tr.Lines[k]
		done = max(done, s.bulkLine(begin, s.address(w, a, l.Addr, shift), l, w.first[k], a, st))
	}
	st.repeat(&before, w.weight[w.step])
	return done
}

// bulkWaits is how many of the quantiles of waits for DRAM a bulk copy's lines meet: with all of them the longest of a copy
// of 16 KiB is a third longer than measured (deploy/calibrate tma.bulk_latency from DRAM, 1 CTA: 918, 1104 and 1234 cycles
// for 4, 16 and 32 KiB).
const bulkWaits = 15

// bulkLine reads sectors of a line past L1. L2 brings whole lines of what tensor maps ask for (their L2 promotion): a
// copy that begins within a line finds the line there.
func (s *sm) bulkLine(at int64, addr uint64, l *trace.Line, first uint8, a *trace.Access, st *pcStats) int64 {
	n := int64(bits.OnesCount8(l.Sectors))
	fromDRAM := int64(0)
	if first != 0 {
		fromDRAM = s.takeLine(&s.readAcc[a.PC], s.readDue[a.PC], s.granules(first&l.Sectors))
	}
	if again := l.Sectors &^ first; again != 0 {
		m := s.takeLine(&s.againAcc[0][a.PC], s.againDue[0][a.PC], s.granules(again))
		st.again += m * int64(s.m.Granule()/32)
		fromDRAM += m
	}
	h := cache.Hash(addr)
	remote := h&1 == 1 && first != 0 && h>>1&0xffff < s.remote
	wait := fromDRAM
	if l.Sectors&1 == 0 { // it came with the first sector of its line
		wait = 0
		s.mem.Fetch(at, fromDRAM)
	}
	arrives := s.mem.Read(at, &dram.Request{
		Sectors: n, FromDRAM: wait, Held: s.set.held[a.PC][min(n, cost.MostSectors)], Far: remote, Apart: true,
		RowSegment: cache.Hash(addr/s.m.LinesPerRowSegment) >> 24 % bulkWaits, Noise: h >> 24,
	})
	st.sectors += n
	st.l2Sectors += n
	st.dramSectors += fromDRAM * int64(s.m.Granule()/32)
	return arrives
}

// bulkStore is when L2 has taken what a bulk copy stores.
func (s *sm) bulkStore(w *warp, in *ir.Instr, a *trace.Access) int64 {
	if a == nil {
		return s.now
	}
	st := &s.stats.byPC[a.PC]
	before, sent := *st, w.sent
	w.sent = s.now
	shift := s.shift(w, a)
	for k := a.First; k < a.First+int32(a.NLines); k++ {
		l := &w.tr.Lines[k]
		st.sectors += int64(bits.OnesCount8(l.Sectors))
		if in.Bulk.Reduce != ir.AtomNone {
			one := *a
			one.NLines, one.Words = 1, uint8(min(bits.OnesCount8(l.Sectors)*8, 32))
			w.sent = max(w.sent, s.atomic(s.now, &one, l, w.first[k], in.Type.IsFloat()))
			continue
		}
		st.l2Sectors += s.store(w, s.now, a, l, s.address(w, a, l.Addr, shift), w.first[k])
	}
	st.repeat(&before, w.weight[w.step])
	taken := w.sent
	w.sent = max(taken, sent)
	return taken
}

// unstick lets warps go on that nothing in the replay lets go on, since it hangs on other CTAs of the cluster or on
// what the trace does not tell. It reports whether there are any.
func (s *sm) unstick() bool {
	some := false
	for i := range s.warps {
		w := &s.warps[i]
		if !w.waiting || w.hold == holdNone {
			continue
		}
		some = true
		c := &s.ctas[w.cta]
		switch w.hold {
		case holdMbarrier:
			b := &c.mbarriers[w.holdOn]
			b.last = max(b.last, s.now)
			s.endPhase(b)
			s.wakeUp(w.cta, holdMbarrier, w.holdOn, b.done+s.m.Wake)
		case holdCluster:
			c.cluster.phases++
			c.cluster.pending, c.cluster.done = 0, s.now
			s.wakeUp(w.cta, holdCluster, 0, s.now)
		default:
			c.named[w.holdOn] = 0
			s.wakeUp(w.cta, holdBarrier, w.holdOn, s.now+1)
		}
		s.stats.stuck++
	}
	return some
}

// meetNamed is bar.sync and bar.arrive in kernels whose warps have different roles: at one of several barriers, by
// its number and how many threads it is for. Where the number is in a register, warps that are as many as it is for and
// follow each other in the CTA are taken to meet.
func (s *sm) meetNamed(w *warp, o *op) {
	key := o.barrier
	if key < 0 {
		index := int32(0)
		if o.warps > 0 {
			index = w.index / o.warps
		}
		key = 16 + min(index, timing.MaxSlots-1)
	}
	c := &s.ctas[w.cta]
	c.named[key]++
	s.barrier.Serve(s.now, s.m.LatBarrierWarp)
	if o.arrives {
		s.subs[w.sub].await(w.slot)
	} else {
		w.holdOn = key
		s.park(w, holdBarrier)
	}
	if c.named[key] < s.meets(c, o) {
		return
	}
	c.named[key] = 0
	at := max(s.now, s.barrier.Free()-s.m.LatBarrierWarp/dram.Fraction) + s.m.LatBarrier
	s.wakeUp(w.cta, holdBarrier, key, at)
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

// remoteShared is a request to the shared memory of another CTA of the cluster.
func (s *sm) remoteShared(o *op, a *trace.Access, at int64) (begin, result int64) {
	passes, pass := int64(max(a.Passes, 1)), s.m.ClusterLoadPass
	if o.class == assemble.Store {
		pass = s.m.ClusterStorePass
	}
	begin, _ = s.lsu.Serve(at, max(passes*s.m.SharedPass, s.m.Addressing))
	_, end := s.network.Serve(begin, passes*pass)
	return begin, max(begin+s.m.ClusterLoad, end)
}
