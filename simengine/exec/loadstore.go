package exec

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/warptune/warptune/simengine/exec/fault"
	"github.com/warptune/warptune/simengine/exec/internal/code"
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
func (r *Runner) load(w *warp, in *code.Instr, a *code.Access, space ir.Space, mask uint32) signal {
	dst := in.X.Dst
	if a.Elem == 4 && a.Vec == 1 && dst[0].File == code.File32 && space == ir.Shared {
		d := &w.r32[dst[0].Index]
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
			w.put(d, l, a.Element(p, v))
		}
	}
	return next
}

// put writes one lane of a register; get reads one.
func (w *warp) put(s code.Slot, l int, v uint64) {
	switch s.File {
	case code.File32:
		w.r32[s.Index][l] = uint32(v)
	case code.File64:
		w.r64[s.Index][l] = v
	}
}

// putAll writes one value to the lanes in mask of a register.
func (w *warp) putAll(s code.Slot, mask uint32, v uint64) {
	switch s.File {
	case code.File32:
		reg := &w.r32[s.Index]
		for m := mask; m != 0; m &= m - 1 {
			reg[bits.TrailingZeros32(m)&(WarpSize-1)] = uint32(v)
		}
	case code.File64:
		reg := &w.r64[s.Index]
		for m := mask; m != 0; m &= m - 1 {
			reg[bits.TrailingZeros32(m)&(WarpSize-1)] = v
		}
	}
}

func (w *warp) get(s code.Slot, l int) uint64 {
	if s.File == code.File64 {
		return w.r64[s.Index][l]
	}
	return uint64(w.r32[s.Index][l])
}

// store moves registers to memory.
func (r *Runner) store(w *warp, in *code.Instr, a *code.Access, space ir.Space, mask uint32) signal {
	src := in.X.Src
	if space == ir.Const {
		return r.fail(w, in, fault.Fault{Kind: fault.OutOfBounds, Space: space, Address: r.addr[bits.TrailingZeros32(mask)], Thread: -1, Detail: "constant memory cannot be written"})
	}
	if a.Elem == 4 && a.Vec == 1 && src[0].File == code.File32 && space == ir.Shared {
		s := &w.r32[src[0].Index]
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
		for n := 0; n < a.Vec; n++ {
			a.PutElement(p, n, w.get(src[n], l))
		}
		r.settle()
	}
	return next
}

func (r *Runner) pageLimit(w *warp, in *code.Instr) signal {
	return r.fail(w, in, fault.Fault{Kind: fault.Unsupported, Space: ir.Global, Thread: -1, Detail: "the kernel writes more memory than the simulator may hold"})
}

// loadParam reads the parameter space, which is the same for all threads.
func (r *Runner) loadParam(w *warp, in *code.Instr, mask uint32, e extent) signal {
	a := in.X.Access
	if !a.Read {
		return r.fail(w, in, fault.Fault{Kind: fault.Unsupported, Space: ir.ParamSpace, Thread: -1, Detail: "store to the parameter space"})
	}
	if !a.Data {
		return next
	}
	if e.lo == e.hi && e.hi < uint64(len(r.params)) && uint64(a.Width) <= uint64(len(r.params))-e.hi {
		for n, d := range in.X.Dst {
			w.putAll(d, mask, a.Element(r.params[e.lo:], n))
		}
		return next
	}
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		v := r.addr[l]
		if n := uint64(len(r.params)); v >= n || uint64(a.Width) > n-v {
			return r.fail(w, in, fault.Fault{Kind: fault.OutOfBounds, Space: ir.ParamSpace, Address: v, Thread: w.thread(l), Detail: sizeText(ir.ParamSpace, n)})
		}
		for n, d := range in.X.Dst {
			w.put(d, l, a.Element(r.params[v:], n))
		}
	}
	return next
}
