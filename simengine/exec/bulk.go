package exec

import (
	"fmt"
	"math/bits"

	"github.com/warptune/warptune/simengine/exec/fault"
	"github.com/warptune/warptune/simengine/exec/internal/code"
	"github.com/warptune/warptune/simengine/exec/memory"
	"github.com/warptune/warptune/simengine/exec/tensormap"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/trace"
)

// Alignment of bulk copies in bytes (PTX ISA, cp.async.bulk and cp.async.bulk.tensor).
const (
	bulkAlign = 16
	boxAlign  = 128
)

// bulkCopy performs a bulk copy or prefetch by each lane.
func (r *Runner) bulkCopy(w *warp, in *code.Instr, mask uint32) signal {
	for ; mask != 0; mask &= mask - 1 {
		if s := r.bulkLane(w, in, bits.TrailingZeros32(mask)); s != next {
			return s
		}
	}
	return next
}

// bulkLane checks a lane's copy and tells of it. Slice mode moves no data.
func (r *Runner) bulkLane(w *warp, in *code.Instr, l int) signal {
	o := in.X.Async
	a, s := r.asyncOf(w, in, l)
	if s != next {
		return s
	}
	r.ranges = r.ranges[:0]
	var m *tensormap.Map
	if o.Tensor != nil {
		if m, s = r.tensorMap(w, in, l); s != next {
			return s
		}
		a.Bytes = int32(m.BoxBytes())
		r.ranges = m.AppendRanges(r.ranges, r.coordinates(w, o, l))
		if s = r.checkRanges(w, in, l); s != next {
			return s
		}
	} else if s = r.checkBytes(w, in, l, uint64(uint32(a.Bytes))); s != next {
		return s
	}
	if s = r.checkTiles(w, in, l, uint64(uint32(a.Bytes)), &a); s != next {
		return s
	}
	r.tell(w, a, r.ranges)
	if r.p.Blocking || o.Data {
		return r.moveBulk(w, in, l, &a, m)
	}
	return next
}

// coordinates is where a lane's box of a tensor starts.
func (r *Runner) coordinates(w *warp, o *code.AsyncOp, l int) *[tensormap.MaxRank]int32 {
	r.corner = [tensormap.MaxRank]int32{}
	for i, s := range o.Coords {
		r.corner[i] = int32(w.get(s, l))
	}
	return &r.corner
}

// checkBytes finds the device memory of a copy of bytes.
func (r *Runner) checkBytes(w *warp, in *code.Instr, l int, bytes uint64) signal {
	o := in.X.Async
	if bytes%bulkAlign != 0 {
		return r.fail(w, in, fault.Fault{Kind: fault.Misaligned, Space: ir.Global, Thread: w.thread(l), Detail: fmt.Sprintf("a copy of %d bytes: want a multiple of %d", bytes, bulkAlign)})
	}
	a := o.Global()
	if a == nil || bytes == 0 {
		return next
	}
	addr := w.at(a, l)
	if s, base := splitGeneric(addr); s == ir.Global {
		addr -= base
	}
	if addr%bulkAlign != 0 {
		return r.fail(w, in, fault.Fault{Kind: fault.Misaligned, Space: ir.Global, Address: addr, Thread: w.thread(l), Detail: alignText(bulkAlign)})
	}
	reg := r.regions[a.Index]
	if reg == nil || !reg.Holds(addr, bytes) {
		if reg = r.meant(a, addr, bytes); reg == nil {
			r.addr[l] = addr
			return r.stray(w, in, &code.Access{Index: a.Index, Write: a.Write, Width: int(bytes)}, l)
		}
		r.regions[a.Index] = reg
	}
	r.ranges = append(r.ranges, Range{Addr: addr, Bytes: int(bytes)})
	return next
}

// checkRanges checks that the bytes of a box lie in buffers.
func (r *Runner) checkRanges(w *warp, in *code.Instr, l int) signal {
	var reg *memory.Region
	for _, x := range r.ranges {
		if reg != nil && reg.Holds(x.Addr, uint64(x.Bytes)) {
			continue
		}
		if reg = r.mem.Find(x.Addr, uint64(x.Bytes)); reg == nil {
			return r.fail(w, in, fault.Fault{Kind: fault.OutOfBounds, Space: ir.Global, Address: x.Addr, Thread: w.thread(l), Width: x.Bytes,
				Detail: "the tensor that the map describes does not lie in one buffer"})
		}
	}
	return next
}

// checkTiles checks the shared memory that a copy reads or writes, and finds the CTAs that it goes to.
func (r *Runner) checkTiles(w *warp, in *code.Instr, l int, bytes uint64, a *trace.Async) signal {
	o := in.X.Async
	align := uint64(bulkAlign)
	if o.Tensor != nil {
		align = boxAlign
	}
	for _, at := range [...]*code.Access{o.To, o.From} {
		if at == nil || at.Space == ir.Global {
			continue
		}
		rank, _, s := r.findShared(w, in, at, l, w.at(at, l), bytes, align)
		if s != next {
			return s
		}
		if at == o.To && !o.Bulk.Multicast && o.Bar != nil && int16(rank) != a.CTA {
			return r.fail(w, in, fault.Fault{Kind: fault.OutOfBounds, Space: ir.SharedCluster, Thread: w.thread(l), Detail: "the mbarrier is not in the CTA that the copy goes to"})
		}
	}
	if !o.Bulk.Multicast {
		return next
	}
	switch a.To = uint16(w.get(o.Cast, l)); {
	case a.To == 0:
		return r.fail(w, in, fault.Fault{Kind: fault.Unsupported, Space: ir.SharedCluster, Thread: w.thread(l), Detail: "CTA mask 0: the copy goes to no CTA"})
	case int(a.To)>>r.cluster.count != 0:
		return r.fail(w, in, fault.Fault{Kind: fault.OutOfBounds, Space: ir.SharedCluster, Thread: w.thread(l), Detail: fmt.Sprintf("CTA mask %#x of a cluster of %d CTAs", a.To, r.cluster.count)})
	}
	return next
}
