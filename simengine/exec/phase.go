package exec

import (
	"fmt"
	"math/bits"

	"github.com/warptune/warptune/simengine/exec/fault"
	"github.com/warptune/warptune/simengine/exec/internal/code"
	"github.com/warptune/warptune/simengine/exec/mbarrier"
	"github.com/warptune/warptune/simengine/exec/memory"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/trace"
)

// asyncState is what a CTA's asynchronous operations are at, in Full mode.
type asyncState struct {
	bars map[uint32]*phases // mbarriers, by address
	flights
}

// phases is an mbarrier of a CTA. observed is the number of phases of which a thread of the CTA has
// seen that they are complete.
type phases struct {
	mbarrier.Barrier
	observed uint64
}

func (a *asyncState) resetAsync(p *Program) {
	if !p.Blocking {
		return
	}
	if a.bars == nil {
		a.bars = map[uint32]*phases{}
	}
	clear(a.bars)
	a.flights.reset()
}

// mbarrierFull performs an operation on mbarriers.
func (r *Runner) mbarrierFull(w *warp, in *code.Instr, mask uint32) signal {
	o := in.X.Async
	if o.Op == ir.MbarWait {
		return r.waitPhase(w, in, mask)
	}
	for ; mask != 0; mask &= mask - 1 {
		l := bits.TrailingZeros32(mask)
		a, s := r.asyncOf(w, in, l)
		if s != next {
			return s
		}
		r.tell(w, a, nil)
		if err := r.operate(w, in, l, &a); err != nil {
			return r.misused(w, in, l, &a, err)
		}
	}
	return next
}

// misused is the fault of an operation that an mbarrier does not take.
func (r *Runner) misused(w *warp, in *code.Instr, l int, a *trace.Async, err error) signal {
	return r.fail(w, in, fault.Fault{Kind: fault.BarrierDivergence, Space: ir.Shared, Address: uint64(a.Barrier), Thread: w.thread(l),
		Detail: fmt.Sprintf("%v, at address %#x", err, a.Barrier)})
}

// at returns the mbarrier at an address.
func (a *asyncState) at(addr uint32) (*phases, error) {
	if b := a.bars[addr]; b != nil {
		return b, nil
	}
	return nil, fmt.Errorf("no mbarrier was initialised there")
}

// operate performs a lane's operation on an mbarrier.
func (r *Runner) operate(w *warp, in *code.Instr, l int, a *trace.Async) error {
	o, c := in.X.Async, r.state(int(a.CTA))
	if o.Op == ir.MbarInit {
		b := &phases{}
		c.bars[a.Barrier] = b
		return b.Init(int64(uint32(a.Count)))
	}
	b, err := c.at(a.Barrier)
	if err != nil {
		return err
	}
	done := false
	switch o.Op {
	case ir.MbarInval:
		delete(c.bars, a.Barrier)
	case ir.MbarExpect:
		bytes := int64(uint32(a.Bytes))
		if o.Mod&ir.ModDone != 0 {
			bytes = -bytes
		}
		done, err = b.ExpectTx(bytes)
	case ir.CpAsyncArrive:
		done, err = r.arriveCopied(w, o, b)
	case ir.MbarArrive:
		done, err = r.arrivePhase(w, in, l, a, b)
	}
	r.moved(c, done)
	return err
}

// moved notes a change of an mbarrier of a CTA, and wakes those that wait if its phase is complete.
func (r *Runner) moved(c *ctaState, done bool) {
	r.happened()
	if done {
		c.wake(onPhase)
	}
}

// arriveCopied is cp.async.mbarrier.arrive. Copies have landed when it is executed. Without .noinc it
// adds the arrival that it makes.
func (r *Runner) arriveCopied(w *warp, o *code.AsyncOp, b *phases) (done bool, err error) {
	if r.races != nil {
		r.races.landed(w)
	}
	if o.Mod&ir.ModAll == 0 {
		err = b.Expect(1)
	}
	if err == nil {
		done, err = b.Arrive(1)
	}
	return done, err
}

// landed notes that the copies of a warp are complete.
func (c *raceChecker) landed(w *warp) {
	g := &c.copies[w.id]
	g.committed++
	for int32(len(g.at)) < g.committed {
		g.at = append(g.at, w.tick)
	}
	g.done = g.committed
}

// arrivePhase is mbarrier.arrive.
func (r *Runner) arrivePhase(w *warp, in *code.Instr, l int, a *trace.Async, b *phases) (done bool, err error) {
	o, phase := in.X.Async, b.Phase
	if a.CTA < 0 {
		r.orderPhase(w, a.Barrier)
	}
	if o.Mod&ir.ModTx != 0 {
		if done, err = b.ExpectTx(int64(uint32(a.Bytes))); err != nil {
			return done, err
		}
	}
	count := int64(uint32(a.Count))
	if o.Mod&ir.ModDrop != 0 {
		if err := b.Drop(count); err != nil {
			return done, err
		}
	}
	last, err := b.Arrive(count)
	if len(in.X.Dst) > 0 {
		w.put(in.X.Dst[0], l, phase)
	}
	return done || last, err
}

// orderPhase orders a warp after those that arrived at an mbarrier before, and later ones after it.
func (r *Runner) orderPhase(w *warp, addr uint32) {
	if r.races != nil {
		r.races.exchange(w, memory.SharedWindow+uint64(addr))
		w.tick++
	}
}

// waitPhase is mbarrier.test_wait and try_wait. The warp waits until the phase is complete that some
// lane waits for, or until nothing else can go on.
func (r *Runner) waitPhase(w *warp, in *code.Instr, mask uint32) signal {
	o := in.X.Async
	first, complete := phaseWait{bar: trace.NoBarrier}, uint32(0)
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		a, s := r.asyncOf(w, in, l)
		if s != next {
			return s
		}
		b, err := r.at(a.Barrier)
		if a.CTA >= 0 {
			err = fmt.Errorf("a wait for an mbarrier of another CTA")
		}
		if err != nil {
			return r.misused(w, in, l, &a, err)
		}
		if first.bar == trace.NoBarrier {
			first = phaseWait{a.Barrier, w.operand(o.Phase, l, 0), o.Mod&ir.ModParity != 0}
		}
		ok := b.CompletedParity(a.Parity)
		if o.Mod&ir.ModParity == 0 {
			ok = b.Completed(w.operand(o.Phase, l, 0))
		}
		if ok {
			complete |= 1 << l
			b.observed = max(b.observed, b.Phase)
		}
	}
	if complete == 0 && !w.timedOut {
		w.blocked, w.barrierI, w.waitsFor = onPhase, in, first
		return retry
	}
	w.timedOut = false
	r.tellWait(w, in, mask)
	r.orderPhases(w, o, complete)
	if len(in.X.Dst) > 0 {
		w.putPredicate(in.X.Dst[0], complete, mask)
	}
	return next
}

// orderPhases orders a warp after those that arrived at the mbarriers of lanes.
func (r *Runner) orderPhases(w *warp, o *code.AsyncOp, lanes uint32) {
	if r.races == nil {
		return
	}
	last := uint64(0)
	for m := lanes; m != 0; m &= m - 1 {
		addr := w.at(o.Bar, bits.TrailingZeros32(m))
		if m != lanes && addr == last {
			continue
		}
		last = addr
		if _, at, ok := r.sharedPlace(o.Bar.Space, addr); ok {
			r.orderPhase(w, uint32(at))
		}
	}
}

// tellWait tells of a wait by lanes, together if they wait for the same.
func (r *Runner) tellWait(w *warp, in *code.Instr, mask uint32) {
	for rest := mask; rest != 0; {
		l := bits.TrailingZeros32(rest)
		a, _ := r.asyncOf(w, in, l)
		lanes := uint32(0)
		for m := rest; m != 0; m &= m - 1 {
			if n := bits.TrailingZeros32(m); r.alike(w, in.X.Async, l, n) {
				lanes |= 1 << n
			}
		}
		rest &^= lanes
		a.Lanes = uint8(bits.OnesCount32(lanes))
		r.tell(w, a, nil)
	}
}

// phaseWait is the phase of an mbarrier of its CTA that a warp waits for.
type phaseWait struct {
	bar    uint32 // address
	phase  uint64 // its number, or parity
	parity bool
}

func (p phaseWait) String() string {
	if p.parity {
		return fmt.Sprintf("a phase of parity %d of the mbarrier at address %#x", p.phase&1, p.bar)
	}
	return fmt.Sprintf("phase %d of the mbarrier at address %#x", p.phase, p.bar)
}

// phaseText says for what a warp waits at an mbarrier.
func (c *ctaState) phaseText(p phaseWait) string {
	b := c.bars[p.bar]
	if b == nil {
		return fmt.Sprintf("%v, which is none", p)
	}
	return fmt.Sprintf("%v, which is in phase %d with %d of %d arrivals and %d bytes to come", p, b.Phase, b.Pending, b.Expected, b.Tx)
}
