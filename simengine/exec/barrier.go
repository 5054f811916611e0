package exec

import (
	"fmt"
	"math/bits"

	"github.com/warptune/warptune/simengine/exec/fault"
	"github.com/warptune/warptune/simengine/exec/internal/code"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/trace"
)

// barrier is one of the CTA's 16 named barriers. Arrivals count in warps, as
// the hardware does; a bar.arrive does not wait.
type barrier struct {
	arrived  int    // warps that arrived since the last release
	expected int    // warps that release it; 0: all warps of the CTA
	waiting  uint32 // warps that wait
	joined   uint32 // warps that arrived, waiting or not
	ones     int    // bar.red: threads whose predicate holds
	threads  int    // bar.red: threads that arrived
}

// barrierSync is bar.sync and, with ModArrive, bar.arrive.
func (r *Runner) barrierSync(w *warp, in *code.Instr, mask uint32) signal {
	return r.arrive(w, in, mask, 0, 0, in.X.Src)
}

// barrierReduce is bar.red; its last source is the predicate.
func (r *Runner) barrierReduce(w *warp, in *code.Instr, mask uint32) signal {
	n := len(in.X.Src) - 1
	p := w.predicateValue(in.X, n) & mask
	return r.arrive(w, in, mask, bits.OnesCount32(p), bits.OnesCount32(mask), in.X.Src[:n])
}

// arrive counts the warp in and suspends it unless it only arrives. PTX asks
// that all threads of a warp execute the same barrier together.
func (r *Runner) arrive(w *warp, in *code.Instr, mask uint32, ones, threads int, src []code.Slot) signal {
	if mask != w.live {
		stray := bits.TrailingZeros32(w.live &^ mask)
		return r.fail(w, in, fault.Fault{Kind: fault.BarrierDivergence, Thread: w.thread(stray),
			Detail: fmt.Sprintf("lanes %#08x of warp %d wait while lanes %#08x of the same warp are elsewhere", mask, w.id, w.live&^mask)})
	}
	id, count := 0, 0
	lane := bits.TrailingZeros32(mask)
	if len(src) > 0 {
		id = int(w.get(src[0], lane))
	}
	if len(src) > 1 {
		count = int(w.get(src[1], lane))
	}
	if id >= len(r.barriers) || count%WarpSize != 0 {
		return r.fail(w, in, fault.Fault{Kind: fault.Unsupported, Thread: -1, Detail: fmt.Sprintf("barrier %d of %d threads: want 0 to 15 and a multiple of 32", id, count)})
	}
	if k := &r.p.Kernel.Instrs[in.PC]; len(k.Src) > 0 && k.Src[0].Kind != ir.OperandImm {
		r.tell(w, trace.Async{PC: in.PC, CTA: -1, Lanes: 1, Barrier: trace.NoBarrier, Count: int32(id)}, nil)
	}
	b := &r.barriers[id]
	b.arrived++
	b.joined |= 1 << w.id
	b.expected = count / WarpSize
	b.ones += ones
	b.threads += threads
	if r.races != nil {
		r.races.arrive(w, id)
	}
	w.barrier, w.barrierI, w.blocked = id, in, onBarrier
	r.happened()
	if r.p.Kernel.Instrs[in.PC].Mod&ir.ModArrive == 0 {
		b.waiting |= 1 << w.id
	}
	r.release(id)
	if b.waiting>>w.id&1 == 1 {
		return suspend
	}
	return next
}

// release lets the waiting warps go on if all that the barrier expects have
// arrived. Without a count it expects every warp that has not exited, as
// sm_70 and later do.
func (r *Runner) release(id int) {
	b := &r.barriers[id]
	if b.waiting == 0 {
		return
	}
	if b.expected > 0 && b.arrived < b.expected {
		return
	}
	if b.expected == 0 {
		for i := range r.warps[:r.nwarps] {
			if r.warps[i].state != done && b.joined>>i&1 == 0 {
				return
			}
		}
	}
	if r.races != nil {
		r.races.release(id, b.waiting)
	}
	if r.filter != nil && uint64(b.waiting) == 1<<r.nwarps-1 {
		r.filter.begin()
	}
	for m := b.waiting; m != 0; m &= m - 1 {
		w := &r.warps[bits.TrailingZeros32(m)]
		if w.state == waiting {
			w.state = ready
		}
		r.happened()
		r.reduced(w, b)
	}
	*b = barrier{}
}

// reduced writes the result of bar.red for a released warp.
func (r *Runner) reduced(w *warp, b *barrier) {
	x := w.barrierI.X
	if len(x.Dst) == 0 {
		return
	}
	v := uint64(b.ones)
	switch x.BoolOp {
	case ir.BoolAnd:
		v = truth(b.ones == b.threads)
	case ir.BoolOr:
		v = truth(b.ones > 0)
	}
	mask := w.live
	if w.barrierI.HasGuard {
		mask = w.guarded(mask, w.barrierI.Guard, w.barrierI.GuardNot)
	}
	if x.Dst[0].File == code.FilePred {
		w.putPredicate(x.Dst[0], -uint32(v), mask)
		return
	}
	for m := mask; m != 0; m &= m - 1 {
		w.put(x.Dst[0], bits.TrailingZeros32(m), v)
	}
}

func truth(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// released is called when a warp has exited: barriers may have waited for it.
func (r *Runner) released(w *warp) signal {
	for id := range r.barriers {
		r.release(id)
	}
	r.happened()
	if r.p.Waits && r.p.Blocking {
		r.completeCluster()
	}
	return next
}

func (r *Runner) expected(b *barrier) int {
	if b.expected > 0 {
		return b.expected
	}
	return r.nwarps
}
