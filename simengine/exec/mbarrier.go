package exec

import (
	"fmt"
	"math/bits"

	"github.com/warptune/warptune/simengine/exec/fault"
	"github.com/warptune/warptune/simengine/exec/internal/code"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/trace"
)

// at is the address that a lane gives.
func (w *warp) at(a *code.Access, l int) uint64 {
	switch a.Base.File {
	case code.File64:
		return w.r64[a.Base.Index][l] + a.Offset
	case code.File32:
		return uint64(w.r32[a.Base.Index][l] + uint32(a.Offset))
	}
	return a.Offset
}

// operand is that of a lane; what is not there is otherwise.
func (w *warp) operand(s code.Slot, l int, otherwise uint64) uint64 {
	if s.File == code.FileNone {
		return otherwise
	}
	return w.get(s, l)
}

// mbarrier performs an operation on mbarriers in Slice mode, where it is only told of: phases are
// taken to be complete when a warp waits for them.
func (r *Runner) mbarrier(w *warp, in *code.Instr, mask uint32) signal {
	o := in.X.Async
	for rest := mask; rest != 0; {
		l := bits.TrailingZeros32(rest)
		a, s := r.asyncOf(w, in, l)
		if s != next {
			return s
		}
		lanes := uint32(1) << l
		for m := rest & (rest - 1); m != 0; m &= m - 1 {
			n := bits.TrailingZeros32(m)
			if r.alike(w, o, l, n) {
				lanes |= 1 << n
			}
		}
		rest &^= lanes
		a.Lanes = uint8(bits.OnesCount32(lanes))
		r.tell(w, a, nil)
		r.answer(w, in, &a, lanes)
	}
	return next
}

// alike reports whether two lanes do the same.
func (r *Runner) alike(w *warp, o *code.AsyncOp, a, b int) bool {
	return w.at(o.Bar, a) == w.at(o.Bar, b) && w.operand(o.Count, a, 0) == w.operand(o.Count, b, 0) &&
		w.operand(o.Bytes, a, 0) == w.operand(o.Bytes, b, 0) && w.operand(o.Phase, a, 0) == w.operand(o.Phase, b, 0)
}

// answer gives lanes the result of an operation in Slice mode. The state of a phase is its number,
// counted by the arrivals of the warp.
func (r *Runner) answer(w *warp, in *code.Instr, a *trace.Async, lanes uint32) {
	if len(in.X.Dst) == 0 {
		return
	}
	if in.X.Async.Op == ir.MbarWait {
		w.putPredicate(in.X.Dst[0], ^uint32(0), lanes)
		return
	}
	key := uint64(w.id)<<32 | uint64(a.Barrier)
	n := r.arrivals[key]
	r.arrivals[key] = n + 1
	for m := lanes; m != 0; m &= m - 1 {
		w.put(in.X.Dst[0], bits.TrailingZeros32(m), n)
	}
}

// asyncOf describes what a lane does to an mbarrier.
func (r *Runner) asyncOf(w *warp, in *code.Instr, l int) (trace.Async, signal) {
	o := in.X.Async
	a := trace.Async{PC: in.PC, CTA: -1, Lanes: 1, Barrier: trace.NoBarrier, Parity: uint8(w.operand(o.Phase, l, 0) & 1)}
	a.Bytes = int32(w.operand(o.Bytes, l, 0))
	if o.Bulk == nil {
		a.Count = int32(w.operand(o.Count, l, 1))
	}
	if o.Bar == nil {
		return a, next
	}
	rank, at, s := r.findShared(w, in, o.Bar, l, w.at(o.Bar, l), code.MbarrierBytes, code.MbarrierBytes)
	a.CTA, a.Barrier = int16(rank), uint32(at)
	return a, s
}

// findShared is where in the cluster's shared memory the bytes at an address are.
func (r *Runner) findShared(w *warp, in *code.Instr, a *code.Access, l int, addr, bytes, align uint64) (rank int, at uint64, s signal) {
	rank, at, ok := r.sharedPlace(a.Space, addr)
	f := fault.Fault{Space: ir.Shared, Address: at, Thread: w.thread(l), Write: a.Write}
	if rank >= 0 {
		f.Space = ir.SharedCluster
	}
	n := uint64(len(r.shared))
	switch {
	case !ok && a.Space == ir.Generic && rank == 0:
		f.Kind, f.Detail = fault.OutOfBounds, "the generic address is not one of shared memory"
	case !ok:
		f.Kind, f.Detail = fault.OutOfBounds, fmt.Sprintf("rank %d of a cluster of %d CTAs", rank, r.cluster.count)
	case at%align != 0:
		f.Kind, f.Detail = fault.Misaligned, alignText(align)
	case at >= n || bytes > n-at:
		f.Kind, f.Detail = fault.OutOfBounds, sizeText(ir.Shared, n)
	default:
		return rank, at, next
	}
	return rank, at, r.fail(w, in, f)
}

// tell counts an asynchronous operation and tells the observer of it.
func (r *Runner) tell(w *warp, a trace.Async, ranges []Range) {
	r.account(true, 1)
	if len(w.inLoops) > 0 {
		w.sign(uint64(a.PC)<<40 ^ uint64(a.Barrier)<<8 ^ uint64(uint16(a.CTA))<<34 ^ uint64(a.Parity))
	}
	if r.asyncObs != nil {
		r.asyncObs.Async(w.id, a, ranges)
	}
}
