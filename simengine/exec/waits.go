package exec

import (
	"fmt"
	"math/bits"
	"strings"

	"github.com/warptune/warptune/simengine/exec/fault"
	"github.com/warptune/warptune/simengine/exec/internal/code"
	"github.com/warptune/warptune/simengine/ir"
)

// blocked is what a waiting warp waits for.
type blocked uint8

const (
	onBarrier blocked = iota // of the CTA
	onPhase                  // of an mbarrier
	onCluster                // the barrier of the cluster
)

// asyncWarp is a warp's part in asynchronous work, in Full mode.
type asyncWarp struct {
	blocked   blocked
	waitsFor  phaseWait // onPhase
	timedOut  bool      // the wait for a phase answers false
	clusterAt uint32    // the phase of the cluster's barrier that it arrived at, plus one

	fenced   uint32 // Runner.seq at the last fence of the asynchronous proxy
	bulk     [WarpSize]groups
	wgmma    groups
	unwaited bool // there are warpgroup MMAs that are not waited for
	inFlight []wgmmaUse
}

// groups counts groups of asynchronous operations: those committed, and of these the ones waited for.
type groups struct{ committed, waited int32 }

// wait waits until at most n committed groups are left.
func (g *groups) wait(n uint64) {
	if int64(n) < int64(g.committed-g.waited) {
		g.waited = g.committed - int32(n)
	}
}

func (a *asyncWarp) reset() {
	inFlight := a.inFlight
	clear(inFlight)
	*a = asyncWarp{inFlight: inFlight}
}

// happened notes that something may let waiting warps go on.
func (r *Runner) happened() { r.events++ }

// wake lets the warps of a CTA go on that wait for what is of that kind.
func (c *ctaState) wake(kind blocked) {
	for i := range c.warps[:c.nwarps] {
		if w := &c.warps[i]; w.state == waiting && w.blocked == kind {
			w.state = ready
		}
	}
}

// timeOut has waits for phases answer false, as they may after some time, if anything has happened
// since that was last done. It reports whether it did.
func (r *Runner) timeOut() bool {
	if r.seen == r.events {
		return false
	}
	r.seen = r.events
	any := false
	for rank := range r.size {
		c := r.state(rank)
		for i := range c.warps[:c.nwarps] {
			if w := &c.warps[i]; w.state == waiting && w.blocked == onPhase {
				w.state, w.timedOut, any = ready, true, true
			}
		}
	}
	return any
}

// deadlock is the fault of CTAs of which every warp waits or has exited.
func (r *Runner) deadlock() error {
	if err := r.spinsForever(); err != nil {
		return err
	}
	var first *warp
	rank := 0
	var where []string
	for n := range r.size {
		c := r.state(n)
		for i := range c.warps[:c.nwarps] {
			w := &c.warps[i]
			if w.state != waiting {
				continue
			}
			if first == nil {
				first, rank = w, n
			}
			if text := r.waitText(c, w); len(where) < 4 && (w == first || w.blocked != first.blocked || w.barrier != first.barrier || w.waitsFor.bar != first.waitsFor.bar) {
				where = append(where, text)
			}
		}
	}
	r.activate(rank)
	w := &r.warps[first.id]
	r.fail(w, w.barrierI, fault.Fault{Kind: fault.BarrierDivergence, Thread: w.first, Detail: strings.Join(where, ", ") + ", and no other warp will arrive"})
	return r.fault
}

// spinsForever is the fault of a warp that waits for what another thread writes while nothing else can go on. Executed
// alone a CTA may wait for one that is not executed: that is the limit of steps. If none of its warps does, it waits for
// itself.
func (r *Runner) spinsForever() error {
	first, rank, beyond := (*warp)(nil), 0, false
	for n := range r.size {
		c := r.state(n)
		for i := range c.warps[:c.nwarps] {
			w := &c.warps[i]
			if w.state != ready || beyond || first != nil && !r.looksBeyond(w) {
				continue
			}
			first, rank, beyond = w, n, r.looksBeyond(w)
		}
	}
	if first == nil {
		return nil
	}
	r.activate(rank)
	w := &r.warps[first.id]
	f := fault.Fault{Kind: fault.StepLimit, Thread: w.first, Detail: "the warp waits until another thread has written to shared memory, and none goes on that could: none writes what it waits for, or lanes of one warp wait for each other"}
	switch {
	case beyond && r.opt.WholeGrid:
		f.Kind, f.Detail = fault.BarrierDivergence, "the warp waits until another thread has written, and no other thread of the grid goes on"
	case beyond:
		f.Detail = "the warp waits until another thread has written, which is not executed with it: CTAs that wait for each other are executed together in small grids only"
	}
	r.fail(w, &code.Instr{PC: r.p.Blocks[w.top().block].PC}, f)
	return r.fault
}

// looksBeyond reports whether a warp that spins waits for what another CTA may write.
func (r *Runner) looksBeyond(w *warp) bool { return !r.p.Blocks[w.top().block].Awaits }

// waitText says what a warp waits for.
func (r *Runner) waitText(c *ctaState, w *warp) string {
	who := fmt.Sprintf("warp %d", w.id)
	if r.size > 1 {
		who += fmt.Sprintf(" of CTA %d", c.cta)
	}
	switch w.blocked {
	case onPhase:
		return who + " waits for " + c.phaseText(w.waitsFor)
	case onCluster:
		return fmt.Sprintf("%s waits at the barrier of the cluster (%d of %d warps there)", who, r.clusterArrived(), r.clusterLive())
	}
	b := &c.barriers[w.barrier]
	return fmt.Sprintf("%s waits at barrier %d (%d of %d warps there)", who, w.barrier, b.arrived, r.expected(b))
}

// clusterBarrier is the barrier of the cluster's threads.
type clusterBarrier struct{ phase uint32 }

// eachWarp calls f for every warp of the cluster that has not exited.
func (r *Runner) eachWarp(f func(w *warp)) {
	for rank := range r.size {
		c := r.state(rank)
		for i := range c.warps[:c.nwarps] {
			if w := &c.warps[i]; w.state != done {
				f(w)
			}
		}
	}
}

func (r *Runner) clusterArrived() (n int) {
	r.eachWarp(func(w *warp) {
		if w.clusterAt > r.clusterGroup.barrier.phase {
			n++
		}
	})
	return n
}

func (r *Runner) clusterLive() (n int) {
	r.eachWarp(func(*warp) { n++ })
	return n
}

// clusterBar is barrier.cluster.arrive and barrier.cluster.wait.
func (r *Runner) clusterBar(w *warp, in *code.Instr, mask uint32) signal {
	b := &r.clusterGroup.barrier
	if mask != w.live {
		stray := bits.TrailingZeros32(w.live &^ mask)
		return r.fail(w, in, fault.Fault{Kind: fault.BarrierDivergence, Thread: w.thread(stray),
			Detail: fmt.Sprintf("lanes %#08x of warp %d are at the cluster's barrier while lanes %#08x of the same warp are elsewhere", mask, w.id, w.live&^mask)})
	}
	w.barrierI = in
	if r.p.Kernel.Instrs[in.PC].Mod&ir.ModArrive != 0 {
		if w.clusterAt > b.phase {
			return r.fail(w, in, fault.Fault{Kind: fault.BarrierDivergence, Thread: w.first, Detail: "the warp arrived at the cluster's barrier already and did not wait"})
		}
		r.orderCluster(w)
		w.clusterAt = b.phase + 1
		r.happened()
		r.completeCluster()
		return next
	}
	switch {
	case w.clusterAt == 0:
		return r.fail(w, in, fault.Fault{Kind: fault.BarrierDivergence, Thread: w.first, Detail: "the warp waits at the cluster's barrier at which it did not arrive"})
	case w.clusterAt > b.phase:
		w.blocked = onCluster
		return retry
	}
	r.orderCluster(w)
	return next
}

// orderCluster orders a warp after those of its CTA that came to the cluster's barrier before.
func (r *Runner) orderCluster(w *warp) {
	if r.races != nil {
		r.races.exchange(w, clusterBarrierKey)
		w.tick++
	}
}

// clusterBarrierKey is no address.
const clusterBarrierKey = ^uint64(0)

// completeCluster completes a phase of the cluster's barrier when every warp has arrived that has not
// exited.
func (r *Runner) completeCluster() {
	if r.clusterArrived() < r.clusterLive() || r.clusterLive() == 0 {
		return
	}
	r.clusterGroup.barrier.phase++
	for rank := range r.size {
		r.state(rank).wake(onCluster)
	}
}
