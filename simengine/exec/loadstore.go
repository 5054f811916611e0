package exec

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/warptune/warptune/simengine/exec/fault"
	"github.com/warptune/warptune/simengine/ir"
)

func sizeText(space ir.Space, size uint64) string {
	switch space {
	case ir.Shared:
		return fmt.Sprintf("the CTA has %d bytes of shared memory", size)
	case ir.Local:
		return fmt.Sprintf("the thread has %d bytes of local memory", size)
	case ir.Const:
		return fmt.Sprintf("the constant bank holds %d bytes", size)
	}
	return fmt.Sprintf("the space has %d bytes", size)
}

func alignText(width uint64) string { return fmt.Sprintf("must be a multiple of %d", width) }

// load moves memory to registers.
func (r *Runner) load(w *warp, in *instr, a *access, space ir.Space, mask uint32) signal {
	dst := in.x.dst
	if a.elem == 4 && a.vec == 1 && dst[0].file == file32 && space == ir.Shared {
		d := &w.r32[dst[0].index]
		for m := mask; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			d[l] = binary.LittleEndian.Uint32(r.shared[r.addr[l]:])
		}
		return next
	}
	var c cursor
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		p := r.lane(w, &c, a, space, l, false)
		if p == nil {
			return r.pageLimit(w, in)
		}
		for v, d := range dst {
			w.put(d, l, a.element(p, v))
		}
	}
	return next
}

// element is element v of a lane's bytes, extended to 64 bits.
func (a *access) element(p []byte, v int) uint64 {
	switch a.elem {
	case 4:
		x := binary.LittleEndian.Uint32(p[4*v:])
		if a.signed {
			return uint64(int64(int32(x)))
		}
		return uint64(x)
	case 8:
		return binary.LittleEndian.Uint64(p[8*v:])
	case 2:
		x := binary.LittleEndian.Uint16(p[2*v:])
		if a.signed {
			return uint64(int64(int16(x)))
		}
		return uint64(x)
	}
	if a.signed {
		return uint64(int64(int8(p[v])))
	}
	return uint64(p[v])
}

// putElement stores v as element n of a lane's bytes.
func (a *access) putElement(p []byte, n int, v uint64) {
	switch a.elem {
	case 4:
		binary.LittleEndian.PutUint32(p[4*n:], uint32(v))
	case 8:
		binary.LittleEndian.PutUint64(p[8*n:], v)
	case 2:
		binary.LittleEndian.PutUint16(p[2*n:], uint16(v))
	default:
		p[n] = byte(v)
	}
}

// put writes one lane of a register; get reads one.
func (w *warp) put(s slot, l int, v uint64) {
	switch s.file {
	case file32:
		w.r32[s.index][l] = uint32(v)
	case file64:
		w.r64[s.index][l] = v
	}
}

func (w *warp) get(s slot, l int) uint64 {
	if s.file == file64 {
		return w.r64[s.index][l]
	}
	return uint64(w.r32[s.index][l])
}

// store moves registers to memory.
func (r *Runner) store(w *warp, in *instr, a *access, space ir.Space, mask uint32) signal {
	src := in.x.src
	if space == ir.Const {
		return r.fail(w, in, fault.Fault{Kind: fault.OutOfBounds, Space: space, Address: r.addr[bits.TrailingZeros32(mask)], Thread: -1, Detail: "constant memory cannot be written"})
	}
	if a.elem == 4 && a.vec == 1 && src[0].file == file32 && space == ir.Shared {
		s := &w.r32[src[0].index]
		for m := mask; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			binary.LittleEndian.PutUint32(r.shared[r.addr[l]:], s[l])
		}
		return next
	}
	var c cursor
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		p := r.lane(w, &c, a, space, l, true)
		if p == nil {
			return r.pageLimit(w, in)
		}
		for n := 0; n < a.vec; n++ {
			a.putElement(p, n, w.get(src[n], l))
		}
		r.settle()
	}
	return next
}

func (r *Runner) pageLimit(w *warp, in *instr) signal {
	return r.fail(w, in, fault.Fault{Kind: fault.Unsupported, Space: ir.Global, Thread: -1, Detail: "the kernel writes more memory than the simulator may hold"})
}

// loadParam reads the parameter space, which is the same for all threads.
func (r *Runner) loadParam(w *warp, in *instr, mask uint32) signal {
	a := in.x.access
	if !a.read {
		return r.fail(w, in, fault.Fault{Kind: fault.Unsupported, Space: ir.ParamSpace, Thread: -1, Detail: "store to the parameter space"})
	}
	if !a.data {
		return next
	}
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		v := r.addr[l]
		if n := uint64(len(r.params)); v >= n || uint64(a.width) > n-v {
			return r.fail(w, in, fault.Fault{Kind: fault.OutOfBounds, Space: ir.ParamSpace, Address: v, Thread: w.thread(l), Detail: sizeText(ir.ParamSpace, n)})
		}
		for n, d := range in.x.dst {
			w.put(d, l, a.element(r.params[v:], n))
		}
	}
	return next
}
