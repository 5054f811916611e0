package exec

import (
	"math/bits"

	"github.com/warptune/warptune/simengine/exec/fault"
	"github.com/warptune/warptune/simengine/ir"
)

// atomic performs the lanes one after the other in lane order.
func (r *Runner) atomic(w *warp, in *instr, space ir.Space, mask uint32) signal {
	x, a := in.x, in.x.access
	if space == ir.Const {
		return r.fail(w, in, fault.Fault{Kind: fault.OutOfBounds, Space: space, Address: r.addr[bits.TrailingZeros32(mask)], Thread: -1, Detail: "constant memory cannot be written"})
	}
	var c cursor
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		p := r.lane(w, &c, a, space, l, true)
		if p == nil {
			return r.pageLimit(w, in)
		}
		for v := range a.vec {
			old := a.element(p, v)
			third := uint64(0)
			if len(x.src) > a.vec {
				third = w.get(x.src[a.vec+v], l)
			}
			a.putElement(p, v, x.atom(old, w.get(x.src[v], l), third))
			if len(x.dst) > 0 {
				w.put(x.dst[v], l, old)
			}
		}
		r.settle()
	}
	return next
}
