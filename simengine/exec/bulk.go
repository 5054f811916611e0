package exec

import (
	"fmt"
	"math/bits"

	"github.com/warptune/warptune/simengine/exec/fault"
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

// emitBulk compiles a bulk copy or prefetch.
func (c *compiler) emitBulk(pc int, in *ir.Instr, i *instr) (bool, error) {
	o := &asyncOp{op: in.Op, mod: in.Mod, data: c.needed[pc], bulk: in.Bulk, count: noSlot, bytes: noSlot, phase: noSlot, cast: noSlot, value: noSlot}
	i.kind, i.x = kindCall, &extra{run: (*Runner).bulkCopy, async: o}
	n := 0
	place := func(space ir.Space, write bool) (a *access, err error) {
		if space == ir.Global && in.Bulk.Dims > 0 {
			if o.tensor, err = c.asyncAddress(pc, in, n, ir.Generic, tensormap.Bytes); err == nil {
				o.cached = c.p.mapUses
				c.p.mapUses++
			}
			n++
			return nil, err
		}
		a, err = c.asyncAddress(pc, in, n, space, 1)
		if err == nil && space == ir.Global {
			a.read, a.write = !write, write
			c.register(a, &in.Src[n])
			if write {
				c.p.writers = append(c.p.writers, a.index)
			}
		}
		n++
		return a, err
	}
	var err error
	if in.Op == ir.BulkCopy {
		if o.to, err = place(in.Bulk.To, true); err != nil {
			return false, err
		}
	}
	if o.from, err = place(in.Bulk.From, false); err != nil {
		return false, err
	}
	return true, c.bulkOperands(pc, in, o, n)
}

// bulkOperands resolves what follows the addresses of a bulk copy.
func (c *compiler) bulkOperands(pc int, in *ir.Instr, o *asyncOp, n int) error {
	operand := func() (s slot, err error) {
		if n >= len(in.Src) {
			return noSlot, c.unsupported(pc, "operands")
		}
		s, err = c.source(pc, &in.Src[n], ir.B32)
		n++
		return s, err
	}
	var err error
	for range in.Bulk.Dims {
		s, err := operand()
		if err != nil {
			return err
		}
		o.coords = append(o.coords, s)
	}
	if in.Bulk.Dims == 0 {
		if o.bytes, err = operand(); err != nil {
			return err
		}
	}
	if in.Op == ir.BulkCopy && in.Bulk.Barrier {
		if o.bar, err = c.asyncAddress(pc, in, n, in.Bulk.To, mbarrierBytes); err != nil {
			return err
		}
		n++
	}
	if in.Bulk.Multicast {
		o.cast, err = operand()
	}
	return err
}

// bulkCopy performs a bulk copy or prefetch by each lane.
func (r *Runner) bulkCopy(w *warp, in *instr, mask uint32) signal {
	for ; mask != 0; mask &= mask - 1 {
		if s := r.bulkLane(w, in, bits.TrailingZeros32(mask)); s != next {
			return s
		}
	}
	return next
}

// bulkLane checks a lane's copy and tells of it. Slice mode moves no data.
func (r *Runner) bulkLane(w *warp, in *instr, l int) signal {
	o := in.x.async
	a, s := r.asyncOf(w, in, l)
	if s != next {
		return s
	}
	r.ranges = r.ranges[:0]
	var m *tensormap.Map
	if o.tensor != nil {
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
	if r.p.blocking || o.data {
		return r.moveBulk(w, in, l, &a, m)
	}
	return next
}

// coordinates is where a lane's box of a tensor starts.
func (r *Runner) coordinates(w *warp, o *asyncOp, l int) *[tensormap.MaxRank]int32 {
	r.corner = [tensormap.MaxRank]int32{}
	for i, s := range o.coords {
		r.corner[i] = int32(w.get(s, l))
	}
	return &r.corner
}

// checkBytes finds the device memory of a copy of bytes.
func (r *Runner) checkBytes(w *warp, in *instr, l int, bytes uint64) signal {
	o := in.x.async
	if bytes%bulkAlign != 0 {
		return r.fail(w, in, fault.Fault{Kind: fault.Misaligned, Space: ir.Global, Thread: w.thread(l), Detail: fmt.Sprintf("a copy of %d bytes: want a multiple of %d", bytes, bulkAlign)})
	}
	a := o.global()
	if a == nil || bytes == 0 {
		return next
	}
	addr := a.at(w, l)
	if s, base := splitGeneric(addr); s == ir.Global {
		addr -= base
	}
	if addr%bulkAlign != 0 {
		return r.fail(w, in, fault.Fault{Kind: fault.Misaligned, Space: ir.Global, Address: addr, Thread: w.thread(l), Detail: alignText(bulkAlign)})
	}
	reg := r.regions[a.index]
	if reg == nil || !reg.Holds(addr, bytes) {
		if reg = r.meant(a, addr, bytes); reg == nil {
			r.addr[l] = addr
			return r.stray(w, in, &access{index: a.index, write: a.write, width: int(bytes)}, l)
		}
		r.regions[a.index] = reg
	}
	r.ranges = append(r.ranges, Range{Addr: addr, Bytes: int(bytes)})
	return next
}

// global is the address in device memory of a copy of bytes; nil: it copies between CTAs.
func (o *asyncOp) global() *access {
	for _, a := range [...]*access{o.to, o.from} {
		if a != nil && a.space == ir.Global {
			return a
		}
	}
	return nil
}

// checkRanges checks that the bytes of a box lie in buffers.
func (r *Runner) checkRanges(w *warp, in *instr, l int) signal {
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
func (r *Runner) checkTiles(w *warp, in *instr, l int, bytes uint64, a *trace.Async) signal {
	o := in.x.async
	align := uint64(bulkAlign)
	if o.tensor != nil {
		align = boxAlign
	}
	for _, at := range [...]*access{o.to, o.from} {
		if at == nil || at.space == ir.Global {
			continue
		}
		rank, _, s := r.findShared(w, in, at, l, at.at(w, l), bytes, align)
		if s != next {
			return s
		}
		if at == o.to && !o.bulk.Multicast && o.bar != nil && int16(rank) != a.CTA {
			return r.fail(w, in, fault.Fault{Kind: fault.OutOfBounds, Space: ir.SharedCluster, Thread: w.thread(l), Detail: "the mbarrier is not in the CTA that the copy goes to"})
		}
	}
	if !o.bulk.Multicast {
		return next
	}
	switch a.To = uint16(w.get(o.cast, l)); {
	case a.To == 0:
		return r.fail(w, in, fault.Fault{Kind: fault.Unsupported, Space: ir.SharedCluster, Thread: w.thread(l), Detail: "CTA mask 0: the copy goes to no CTA"})
	case int(a.To)>>r.cluster.count != 0:
		return r.fail(w, in, fault.Fault{Kind: fault.OutOfBounds, Space: ir.SharedCluster, Thread: w.thread(l), Detail: fmt.Sprintf("CTA mask %#x of a cluster of %d CTAs", a.To, r.cluster.count)})
	}
	return next
}
