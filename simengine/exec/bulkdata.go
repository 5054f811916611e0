package exec

import (
	"encoding/binary"
	"math/bits"

	"github.com/warptune/warptune/simengine/exec/alu"
	"github.com/warptune/warptune/simengine/exec/element"
	"github.com/warptune/warptune/simengine/exec/fault"
	"github.com/warptune/warptune/simengine/exec/internal/code"
	"github.com/warptune/warptune/simengine/exec/tensormap"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/trace"
)

// swizzleLine is the bytes within which a swizzle moves.
const swizzleLine = 128

// moveBulk moves the data of a lane's bulk copy, if it is needed, and completes it at its mbarrier. m
// is the tensor map, nil for a copy of bytes.
func (r *Runner) moveBulk(w *warp, in *code.Instr, l int, a *trace.Async, m *tensormap.Map) signal {
	o, bytes := in.X.Async, uint64(uint32(a.Bytes))
	if o.Op == ir.BulkPrefetch || bytes == 0 && o.Bar == nil {
		return next
	}
	if n := int(bytes+swizzleLine-1) &^ (swizzleLine - 1); cap(r.box) < n {
		r.box = make([]byte, n)
	}
	r.box = r.box[:bytes]
	if !o.Data {
		if o.Bulk.To == ir.Global {
			return next
		}
	} else if o.Bulk.From == ir.Shared {
		if s := r.readTile(w, in, l, bytes, m); s != next {
			return s
		}
		if o.Bulk.To == ir.Global {
			return r.storeBox(w, in, l, m)
		}
	} else if s := r.loadBox(w, in, l, m); s != next {
		return s
	}
	_, at, _ := r.sharedPlace(o.To.Space, w.at(o.To, l))
	if !o.Bulk.Multicast {
		rank, _, _ := r.sharedPlace(o.To.Space, w.at(o.To, l))
		return r.land(w, in, l, rank, at, a, m)
	}
	for to := a.To; to != 0; to &= to - 1 {
		if s := r.land(w, in, l, bits.TrailingZeros16(to), at, a, m); s != next {
			return s
		}
	}
	return next
}

// loadBox reads what a copy reads in device memory into Runner.box.
func (r *Runner) loadBox(w *warp, in *code.Instr, l int, m *tensormap.Map) signal {
	switch {
	case m == nil && len(r.ranges) == 0:
		return next
	case m == nil:
		return r.eachPage(w, in, l, r.ranges[0].Addr, len(r.box), false, func(at int, part []byte) { copy(r.box[at:], part) })
	}
	element.Repeat(r.box, m.Fill(), m.Elem.Bytes())
	s := next
	m.EachRun(&r.corner, func(addr uint64, n, offset int) {
		if s == next {
			s = r.eachPage(w, in, l, addr, n, false, func(at int, part []byte) { copy(r.box[offset+at:], part) })
		}
	})
	return s
}

// storeBox writes Runner.box to device memory, or combines it with what is there.
func (r *Runner) storeBox(w *warp, in *code.Instr, l int, m *tensormap.Map) signal {
	t, combine, s := r.bulkReduction(w, in, m)
	if s != next {
		return s
	}
	put := func(addr uint64, n, offset int) signal {
		return r.eachPage(w, in, l, addr, n, true, func(at int, part []byte) { combined(part, r.box[offset+at:], t, combine) })
	}
	if m == nil {
		if len(r.ranges) == 0 {
			return next
		}
		return put(r.ranges[0].Addr, len(r.box), 0)
	}
	m.EachRun(&r.corner, func(addr uint64, n, offset int) {
		if s == next {
			s = put(addr, n, offset)
		}
	})
	return s
}

// bulkReduction is the type of a copy's elements, and how they are combined with those where it goes; nil: they replace
// them.
func (r *Runner) bulkReduction(w *warp, in *code.Instr, m *tensormap.Map) (ir.Type, alu.AtomicFunc, signal) {
	t, op := r.p.Executed.Instrs[in.PC].Type, in.X.Async.Bulk.Reduce
	if m != nil {
		t = m.Elem.Type()
	}
	if op == ir.AtomNone {
		return t, nil, next
	}
	combine := alu.SelectAtomic(&ir.Instr{Op: ir.Red, Atom: op, Type: t})
	if combine == nil {
		return t, nil, r.fail(w, in, fault.Fault{Kind: fault.Unsupported, Thread: -1, Detail: "reduction of elements of " + t.String()})
	}
	return t, combine, next
}

// combined puts elements into memory, or combines them with those there.
func combined(to, from []byte, t ir.Type, combine alu.AtomicFunc) {
	if combine == nil {
		copy(to, from)
		return
	}
	n := element.Size(t)
	for i := 0; i+n <= len(to); i += n {
		element.Store(to[i:], combine(element.Load(to[i:], n), element.Load(from[i:], n), 0), n)
	}
}

// readTile reads shared memory that a copy reads into Runner.box.
func (r *Runner) readTile(w *warp, in *code.Instr, l int, bytes uint64, m *tensormap.Map) signal {
	o := in.X.Async
	_, at, _ := r.sharedPlace(o.From.Space, w.at(o.From, l))
	span, swizzle := tileSpan(bytes, m)
	if at+span > uint64(len(r.shared)) {
		return r.fail(w, in, fault.Fault{Kind: fault.OutOfBounds, Space: ir.Shared, Address: at, Thread: w.thread(l), Width: int(span), Detail: sizeText(ir.Shared, uint64(len(r.shared)))})
	}
	if r.p.Tracks {
		reader := untracked
		if o.Bar == nil {
			reader = r.newReader(asyncRead{in.PC, int16(w.id), int8(l), w.bulk[l].committed})
		}
		if s := r.readTiles(w, in, l, at, span, reader); s != next {
			return s
		}
	}
	if r.races != nil {
		if s := r.raceTile(w, in, l, at, span, false); s != next {
			return s
		}
	}
	for i := 0; i < len(r.box); i += 16 {
		from := tensormap.Swizzle(uint32(at)+uint32(i), swizzle)
		copy(r.box[i:min(i+16, len(r.box))], r.shared[from:])
	}
	return next
}

// tileSpan is the bytes of shared memory among which a box lies, and its swizzle.
func tileSpan(bytes uint64, m *tensormap.Map) (span uint64, swizzle int) {
	if m == nil || m.Swizzle == 0 {
		return bytes, 0
	}
	return (bytes + swizzleLine - 1) &^ (swizzleLine - 1), m.Swizzle
}

// land writes Runner.box to the shared memory of a CTA and completes the copy there.
func (r *Runner) land(w *warp, in *code.Instr, l, rank int, at uint64, a *trace.Async, m *tensormap.Map) signal {
	if rank == r.active && r.size > 1 {
		rank = -1
	}
	c := r.state(rank)
	span, swizzle := tileSpan(uint64(len(r.box)), m)
	if at+span > uint64(len(c.shared)) {
		return r.fail(w, in, fault.Fault{Kind: fault.OutOfBounds, Space: ir.Shared, Address: at, Thread: w.thread(l), Write: true, Width: int(span), Detail: sizeText(ir.Shared, uint64(len(c.shared)))})
	}
	var b *phases
	if r.p.Blocking {
		var err error
		if b, err = c.at(a.Barrier); err != nil {
			return r.misused(w, in, l, a, err)
		}
	}
	if r.p.Tracks {
		if s := r.landTiles(w, in, l, c, at, span, b); s != next {
			return s
		}
	}
	if r.races != nil && rank < 0 {
		if s := r.raceTile(w, in, l, at, span, true); s != next {
			return s
		}
	}
	if in.X.Async.Data {
		t, combine, s := r.bulkReduction(w, in, m)
		if s != next {
			return s
		}
		for i := 0; i < len(r.box); i += 16 {
			part := r.box[i:min(i+16, len(r.box))]
			to := tensormap.Swizzle(uint32(at)+uint32(i), swizzle)
			combined(c.shared[to:int(to)+len(part)], part, t, combine)
		}
	}
	if b == nil {
		return next
	}
	if c.definedness != nil && in.X.Async.Bulk.Reduce == ir.AtomNone {
		setAll(c.definedness.shared[at:at+span], true)
	}
	if rank < 0 {
		r.orderPhase(w, a.Barrier)
	}
	completes, err := b.CompleteTx(int64(len(r.box)))
	if err != nil {
		return r.misused(w, in, l, a, err)
	}
	r.moved(c, completes)
	return next
}

// raceTile checks and notes that a lane's copy reads or writes bytes of shared memory.
func (r *Runner) raceTile(w *warp, in *code.Instr, l int, at, bytes uint64, write bool) signal {
	c := r.races
	bulk := in.X.Async
	now := touch{tick: w.tick, pc: in.PC, thread: uint16(w.thread(l)), strong: write && bulk != nil && bulk.Bulk.Reduce != ir.AtomNone}
	a := &code.Access{Write: write, Width: int(bytes)}
	for b := int(at) >> c.shift; b<<c.shift < int(at+bytes); b++ {
		var other *touch
		if write {
			other = r.writeCell(w, in, &c.cells[b], now, l, b<<c.shift)
		} else {
			other = r.readCell(w, &c.cells[b], now, l)
		}
		if other == nil {
			continue
		}
		if s := r.raceFault(w, in, a, l, *other, b*c.granule); s != next {
			return s
		}
	}
	return next
}

// storeMatrices is what stmatrix does to shared memory, the reverse of loadMatrices.
func (r *Runner) storeMatrices(w *warp, in *code.Instr, mask uint32) {
	trans := r.p.Kernel.Instrs[in.PC].Mod&ir.ModTrans != 0
	for m, s := range in.X.Src {
		for l := range WarpSize {
			v := uint32(w.get(s, l))
			at, col := l/4, l%4
			if !trans {
				if mask>>(8*m+at)&1 == 1 {
					binary.LittleEndian.PutUint32(r.shared[r.addr[8*m+at]+uint64(4*col):], v)
				}
				continue
			}
			for i := range 2 {
				if row := 8*m + 2*col + i; mask>>row&1 == 1 {
					binary.LittleEndian.PutUint16(r.shared[r.addr[row]+uint64(2*at):], uint16(v>>(16*i)))
				}
			}
		}
	}
}
