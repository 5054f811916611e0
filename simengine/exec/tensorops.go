package exec

import (
	"math/bits"

	"github.com/warptune/warptune/simengine/exec/fault"
	"github.com/warptune/warptune/simengine/exec/internal/code"
	"github.com/warptune/warptune/simengine/exec/memory"
	"github.com/warptune/warptune/simengine/exec/tensormap"
	"github.com/warptune/warptune/simengine/ir"
)

// usedMap is the map that an instruction last used.
type usedMap struct {
	raw    [tensormap.Bytes]byte
	m      tensormap.Map
	usable bool
}

// tensorMap reads the tensor map of a lane's copy.
func (r *Runner) tensorMap(w *warp, in *code.Instr, l int) (*tensormap.Map, signal) {
	o := in.X.Async
	var raw [tensormap.Bytes]byte
	addr := w.at(o.Tensor, l)
	if s := r.readBytes(w, in, o.Tensor.Space, l, addr, raw[:]); s != next {
		return nil, s
	}
	u := &r.maps[o.Cached]
	if u.usable && u.raw == raw {
		return &u.m, next
	}
	u.usable, u.raw = false, raw
	if err := u.m.Decode(raw[:]); err != nil {
		return nil, r.mapFault(w, in, l, addr, err)
	}
	if u.m.Rank != o.Bulk.Dims {
		return nil, r.fail(w, in, fault.Fault{Kind: fault.Unsupported, Address: addr, Thread: w.thread(l), Detail: "the tensor map's rank is not the instruction's"})
	}
	u.usable = true
	return &u.m, next
}

func (r *Runner) mapFault(w *warp, in *code.Instr, l int, addr uint64, err error) signal {
	return r.fail(w, in, fault.Fault{Kind: fault.Unsupported, Address: addr, Thread: w.thread(l), Detail: err.Error()})
}

// setMap is tensormap.replace. Lanes that execute it together replace the same.
func (r *Runner) setMap(w *warp, in *code.Instr, mask uint32) signal {
	o := in.X.Async
	var raw [tensormap.Bytes]byte
	for ; mask != 0; mask &= mask - 1 {
		l := bits.TrailingZeros32(mask)
		addr := w.at(o.To, l)
		if s := r.readBytes(w, in, o.To.Space, l, addr, raw[:]); s != next {
			return s
		}
		if err := tensormap.Set(raw[:], o.Field, o.Ordinal, w.get(o.Value, l)); err != nil {
			return r.mapFault(w, in, l, addr, err)
		}
		if s := r.writeBytes(w, in, o.To.Space, l, addr, raw[:]); s != next {
			return s
		}
	}
	return next
}

// copyMap is tensormap.cp_fenceproxy, which the lanes of a warp execute together.
func (r *Runner) copyMap(w *warp, in *code.Instr, mask uint32) signal {
	o := in.X.Async
	l := bits.TrailingZeros32(mask)
	var raw [tensormap.Bytes]byte
	if s := r.readBytes(w, in, ir.Shared, l, w.at(o.From, l), raw[:]); s != next {
		return s
	}
	return r.writeBytes(w, in, ir.Global, l, w.at(o.To, l), raw[:])
}

// readBytes copies bytes at an address.
func (r *Runner) readBytes(w *warp, in *code.Instr, space ir.Space, l int, addr uint64, to []byte) signal {
	return r.eachPart(w, in, space, l, addr, len(to), false, func(at int, part []byte) { copy(to[at:], part) })
}

// writeBytes stores bytes at an address.
func (r *Runner) writeBytes(w *warp, in *code.Instr, space ir.Space, l int, addr uint64, from []byte) signal {
	return r.eachPart(w, in, space, l, addr, len(from), true, func(at int, part []byte) { copy(part, from[at:]) })
}

// eachPart calls f with the pieces, each of one page, of the bytes at an address.
func (r *Runner) eachPart(w *warp, in *code.Instr, space ir.Space, l int, addr uint64, n int, write bool, f func(at int, part []byte)) signal {
	at := addr
	if space == ir.Generic {
		s, base := splitGeneric(addr)
		space, at = s, addr-base
	}
	var all []byte
	switch space {
	case ir.Global:
		return r.eachPage(w, in, l, at, n, write, f)
	case ir.Shared:
		all = r.shared
	case ir.ParamSpace:
		all = r.params
	case ir.Const:
		all = r.mem.Constants()
	}
	switch size := uint64(len(all)); {
	case at >= size || uint64(n) > size-at:
		return r.fail(w, in, fault.Fault{Kind: fault.OutOfBounds, Space: space, Address: at, Thread: w.thread(l), Write: write, Width: n, Detail: sizeText(space, size)})
	case write && space != ir.Shared:
		return r.fail(w, in, fault.Fault{Kind: fault.OutOfBounds, Space: space, Address: at, Thread: w.thread(l), Write: write, Width: n, Detail: "it cannot be written"})
	}
	f(0, all[at:at+uint64(n)])
	return next
}

// eachPage is eachPart of device memory.
func (r *Runner) eachPage(w *warp, in *code.Instr, l int, addr uint64, n int, write bool, f func(at int, part []byte)) signal {
	reg := r.mem.Find(addr, uint64(n))
	if reg == nil {
		return r.fail(w, in, fault.Fault{Kind: fault.OutOfBounds, Space: ir.Global, Address: addr, Thread: w.thread(l), Write: write, Width: n, Detail: "no buffer lies there"})
	}
	for at := 0; at < n; {
		off := addr - reg.Base + uint64(at)
		p := r.mem.Page(reg, off>>memory.PageBits)
		if p == nil {
			return r.pageLimit(w, in)
		}
		p.Dirty = p.Dirty || write
		in := off & (memory.PageSize - 1)
		k := min(n-at, int(memory.PageSize-in))
		f(at, p.Data[in:int(in)+k])
		at += k
	}
	return next
}
