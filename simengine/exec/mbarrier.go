package exec

import (
	"fmt"
	"math/bits"

	"github.com/warptune/warptune/simengine/exec/fault"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/trace"
)

// asyncOp is the static part of an instruction on mbarriers, bulk copies or tensor maps.
type asyncOp struct {
	op       ir.Op
	mod      ir.Mod
	data     bool    // its data is needed
	bar      *access // the mbarrier; nil: none
	to, from *access // of copies; of TensormapSet to is the map
	tensor   *access // the tensor map of a copy
	bulk     *ir.Bulk
	field    ir.MapField
	ordinal  int

	count, bytes, phase, cast, value slot
	coords                           []slot
	cached                           int // in Runner.maps
}

const mbarrierBytes = 8

// isAsync reports whether an instruction is one on mbarriers, bulk copies or tensor maps that threads
// make one by one.
func isAsync(op ir.Op) bool {
	switch op {
	case ir.MbarInit, ir.MbarInval, ir.MbarArrive, ir.MbarExpect, ir.MbarWait, ir.CpAsyncArrive,
		ir.BulkCopy, ir.BulkPrefetch, ir.TensormapSet, ir.TensormapCopy:
		return true
	}
	return false
}

// emitMbarrier compiles an operation on an mbarrier.
func (c *compiler) emitMbarrier(pc int, in *ir.Instr, i *instr) (bool, error) {
	o := &asyncOp{op: in.Op, mod: in.Mod, count: noSlot, bytes: noSlot, phase: noSlot, cast: noSlot, value: noSlot}
	i.kind, i.x = kindCall, &extra{run: (*Runner).mbarrier, async: o}
	if c.p.blocking {
		i.x.run = (*Runner).mbarrierFull
	}
	var err error
	if o.bar, err = c.asyncAddress(pc, in, 0, in.Space, mbarrierBytes); err != nil {
		return false, err
	}
	if len(in.Src) > 1 {
		to := &o.count
		switch {
		case in.Op == ir.MbarWait:
			to = &o.phase
		case in.Op == ir.MbarExpect || in.Op == ir.MbarArrive && in.Mod&ir.ModTx != 0:
			to = &o.bytes
		}
		t := ir.B32
		if in.Op == ir.MbarWait && in.Mod&ir.ModParity == 0 {
			t = ir.B64
		}
		if *to, err = c.source(pc, &in.Src[1], t); err != nil {
			return false, err
		}
	}
	for _, reg := range in.Dst {
		d, err := c.dest(pc, reg)
		if err != nil {
			return false, err
		}
		i.x.dst = append(i.x.dst, d)
	}
	return true, nil
}

// asyncAddress resolves an address operand.
func (c *compiler) asyncAddress(pc int, in *ir.Instr, n int, space ir.Space, width int) (*access, error) {
	if n >= len(in.Src) {
		return nil, c.unsupported(pc, "operands")
	}
	a := &access{op: in.Op, space: space, elem: 1, vec: 1, width: width, lanes: ^uint32(0), size: noSlot}
	if err := c.address(pc, a, &in.Src[n]); err != nil {
		return nil, err
	}
	return a, nil
}

// at is the address that a lane gives.
func (a *access) at(w *warp, l int) uint64 {
	switch a.base.file {
	case file64:
		return w.r64[a.base.index][l] + a.offset
	case file32:
		return uint64(w.r32[a.base.index][l] + uint32(a.offset))
	}
	return a.offset
}

// operand is that of a lane; what is not there is otherwise.
func (w *warp) operand(s slot, l int, otherwise uint64) uint64 {
	if s.file == fileNone {
		return otherwise
	}
	return w.get(s, l)
}

// mbarrier performs an operation on mbarriers in Slice mode, where it is only told of: phases are
// taken to be complete when a warp waits for them.
func (r *Runner) mbarrier(w *warp, in *instr, mask uint32) signal {
	o := in.x.async
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
func (r *Runner) alike(w *warp, o *asyncOp, a, b int) bool {
	return o.bar.at(w, a) == o.bar.at(w, b) && w.operand(o.count, a, 0) == w.operand(o.count, b, 0) &&
		w.operand(o.bytes, a, 0) == w.operand(o.bytes, b, 0) && w.operand(o.phase, a, 0) == w.operand(o.phase, b, 0)
}

// answer gives lanes the result of an operation in Slice mode. The state of a phase is its number,
// counted by the arrivals of the warp.
func (r *Runner) answer(w *warp, in *instr, a *trace.Async, lanes uint32) {
	if len(in.x.dst) == 0 {
		return
	}
	if in.x.async.op == ir.MbarWait {
		w.putPredicate(in.x.dst[0], ^uint32(0), lanes)
		return
	}
	key := uint64(w.id)<<32 | uint64(a.Barrier)
	n := r.arrivals[key]
	r.arrivals[key] = n + 1
	for m := lanes; m != 0; m &= m - 1 {
		w.put(in.x.dst[0], bits.TrailingZeros32(m), n)
	}
}

// asyncOf describes what a lane does to an mbarrier.
func (r *Runner) asyncOf(w *warp, in *instr, l int) (trace.Async, signal) {
	o := in.x.async
	a := trace.Async{PC: in.pc, CTA: -1, Lanes: 1, Barrier: trace.NoBarrier, Parity: uint8(w.operand(o.phase, l, 0) & 1)}
	a.Bytes = int32(w.operand(o.bytes, l, 0))
	if o.bulk == nil {
		a.Count = int32(w.operand(o.count, l, 1))
	}
	if o.bar == nil {
		return a, next
	}
	rank, at, s := r.findShared(w, in, o.bar, l, o.bar.at(w, l), mbarrierBytes, mbarrierBytes)
	a.CTA, a.Barrier = int16(rank), uint32(at)
	return a, s
}

// findShared is where in the cluster's shared memory the bytes at an address are.
func (r *Runner) findShared(w *warp, in *instr, a *access, l int, addr, bytes, align uint64) (rank int, at uint64, s signal) {
	rank, at, ok := r.sharedPlace(a.space, addr)
	f := fault.Fault{Space: ir.Shared, Address: at, Thread: w.thread(l), Write: a.write}
	if rank >= 0 {
		f.Space = ir.SharedCluster
	}
	n := uint64(len(r.shared))
	switch {
	case !ok && a.space == ir.Generic && rank == 0:
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

// emitOrder compiles the instructions that order asynchronous work or wait for it. Slice mode does
// not: its warps never wait for data.
func (c *compiler) emitOrder(pc int, in *ir.Instr, i *instr) (bool, error) {
	i.kind, i.x = kindCall, &extra{}
	switch {
	case c.p.Mode == Slice && in.Op == ir.Wgmma:
		return false, c.unsupported(pc, "addresses or branches depend on what it computes")
	case in.Op == ir.ClusterBarrier && c.p.blocking:
		i.x.run = (*Runner).clusterBar
		return true, nil
	case c.p.Mode == Slice:
		return false, nil
	}
	switch in.Op {
	case ir.Wgmma:
		return true, c.emitWgmma(pc, in, i)
	case ir.WgmmaCommit:
		i.x.run = (*Runner).commitProducts
	case ir.WgmmaWait:
		i.x.run, i.x.imm = (*Runner).waitProducts, in.Src[0].Imm
	case ir.BulkCommit:
		i.x.run = (*Runner).bulkCommit
	case ir.BulkWait:
		i.x.run, i.x.imm = (*Runner).bulkWait, in.Src[0].Imm
	case ir.FenceProxy:
		i.x.run = (*Runner).proxyFence
		return in.Space != ir.ParamSpace && in.Mod == 0, nil
	default: // wgmma.fence: registers are written at once
		return false, nil
	}
	return true, nil
}

// findWaits notes whether warps wait for each other beside at barriers of the CTA. A slice in which they
// do follows that only if it reads shared memory that one warp or copy writes for another: then it
// blocks as Full mode does, and its loops are executed whole.
func (c *compiler) findWaits() {
	read, write := false, false
	for pc := range c.k.Instrs {
		in := &c.k.Instrs[pc]
		if c.p.Mode == Slice && !c.needed[pc] && in.Op != ir.MbarWait && in.Op != ir.ClusterBarrier {
			continue
		}
		switch in.Op {
		case ir.BulkCopy, ir.Wgmma:
			c.p.tracks = c.p.Mode == Full
			write = write || in.Op == ir.BulkCopy && in.Bulk.To != ir.Global
		case ir.MbarWait, ir.ClusterBarrier:
			c.p.waits = true
		case ir.Ld, ir.Atom:
			read = read || (in.Space == ir.Shared || in.Space == ir.SharedCluster || in.Space == ir.Generic) && !in.Mirrored()
		}
		write = write || in.Op.WritesMemory() && in.Op != ir.BulkCopy && in.Space != ir.Global && in.Space != ir.Local && !in.Mirrored()
	}
	c.p.blocking = c.p.Mode == Full || c.p.waits && read && write
}
