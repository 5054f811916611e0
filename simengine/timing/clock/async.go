package clock

import (
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/timing"
	"github.com/warptune/warptune/simengine/timing/cost"
	"github.com/warptune/warptune/simengine/timing/pending"
	"github.com/warptune/warptune/simengine/trace"
)

// Asynchronous units beside the issue slots: the tensor cores' warpgroup MMAs, the engine of bulk copies,
// mbarriers, barriers of clusters.

// hold is what a warp waits for after an op, until others let it go on.
type hold uint8

const (
	holdNone hold = iota
	holdBarrier
	holdMbarrier
	holdWord
	holdCluster
)

// warpAsync is what a warp has under way, and where it is in its asynchronous operations: those from asyncLo to asyncHi
// of the trace are the step's.
type warpAsync struct {
	products, stored, read pending.Groups[int64] // read: of stores, that shared memory has been read
	asyncLo, asyncHi       int32
	hold                   hold
	holdOn                 int32 // the barrier
	clusterPhase           int64 // phases of the cluster's barrier when the warp arrived
}

// mbarrier is one in shared memory, or the barrier of a cluster.
type mbarrier = pending.Mbarrier[int64]

// ctaAsync is the barriers of a resident CTA.
type ctaAsync struct {
	mbarriers []mbarrier
	cluster   mbarrier
	named     [numNamed]int32 // warps that wait at each of the barriers of part of the CTA
	late      int64           // when its last warp would have ended with the iterations left out
	exchange  []cost.Exchange // by mbarrier
	loaded    bool            // from DRAM since the last phase of the cluster's barrier
	written   []int64         // by mbarrier that stands for a wait by words: its end with the iterations left out
}

// numNamed is the barriers by number, and those whose number only the warps know: one for each group of warps.
const numNamed = 16 + timing.MaxSlots

func (c *ctaAsync) reset(x []cost.Exchange) {
	clear(c.mbarriers)
	clear(c.named[:])
	clear(c.written)
	c.cluster, c.late, c.exchange, c.loaded = mbarrier{}, 0, x, false
}

// expectWrites sets how many writes must come before the waits by words go on.
func (c *ctaAsync) expectWrites(writes []int64) {
	for i, n := range writes {
		if n > 0 {
			c.mbarriers[i].Expected, c.mbarriers[i].Pending = n, n
		}
	}
}

// product is a warp's part of a product of its warpgroup, which its tensor core starts at a cycle.
func (s *sm) product(p *subPartition, w *warp, o *op, at int64) {
	if o.shared > 0 {
		p.reads.add(at, int64(o.shared))
	}
	w.products.Add(at + int64(o.latency))
}

// productReads is what products that wait at a tensor core will read of shared memory, in the order of their starts.
type productReads struct {
	at, cost []int64 // cycles, steps of the banks
	head     int
}

func (r *productReads) add(at, cost int64) {
	if r.head == len(r.at) {
		r.at, r.cost, r.head = r.at[:0], r.cost[:0], 0
	}
	r.at, r.cost = append(r.at, at), append(r.cost, cost)
}

// startProducts has the products whose time has come hold the banks of shared memory.
func (s *sm) startProducts(p *subPartition) {
	r := &p.reads
	for ; r.head < len(r.at) && r.at[r.head] <= s.now; r.head++ {
		s.lsu.Serve(r.at[r.head], r.cost[r.head])
	}
}

// asyncControl is Control and Fence ops of the asynchronous units: when the warp can go on, and what it shows until
// then. False: it is none.
func (s *sm) asyncControl(w *warp, o *op, fetch int64) (at int64, why timing.StallReason, ok bool) {
	switch o.async {
	case ir.WgmmaCommit:
		w.products.Commit()
	case ir.WgmmaWait:
		return max(fetch, w.products.Until(int(o.pending))), timing.Products, true
	case ir.WgmmaFence:
		return s.now + s.m.WgmmaFence, timing.Wait, true
	case ir.BulkCommit:
		w.stored.Commit()
		w.read.Commit()
	case ir.BulkWait:
		g := &w.stored
		if o.reads {
			g = &w.read
		}
		return max(fetch, g.Until(int(o.pending))), timing.LongScoreboard, true
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
			b.Last = max(b.Last, s.now)
			b.End()
			s.wakeUp(w.cta, holdMbarrier, w.holdOn, b.Done+s.m.Wake)
		case holdWord:
			c.mbarriers[w.holdOn].End()
			s.endWordWaits(w.cta, w.holdOn)
		case holdCluster:
			c.cluster.Phases++
			c.cluster.Pending, c.cluster.Done = 0, s.now
			s.wakeUp(w.cta, holdCluster, 0, s.now)
		default:
			c.named[w.holdOn] = 0
			s.wakeUp(w.cta, holdBarrier, w.holdOn, s.now+1)
		}
	}
	return some
}
