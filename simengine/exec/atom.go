package exec

import (
	"math/bits"

	"github.com/warptune/warptune/simengine/exec/fault"
	"github.com/warptune/warptune/simengine/exec/internal/code"
	"github.com/warptune/warptune/simengine/ir"
)

// atomic performs the lanes one after the other in lane order.
func (r *Runner) atomic(w *warp, in *code.Instr, space ir.Space, mask uint32) signal {
	x, a := in.X, in.X.Access
	if space == ir.Const {
		return r.fail(w, in, fault.Fault{Kind: fault.OutOfBounds, Space: space, Address: r.addr[bits.TrailingZeros32(mask)], Thread: -1, Detail: "constant memory cannot be written"})
	}
	if a.Elem == 4 && a.Vec == 1 && space == ir.Shared && len(x.Src) == 1 && len(x.Dst) == 0 {
		for m := mask; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			p := r.shared[r.addr[l]:]
			a.PutElement(p, 0, x.Atom(a.Element(p, 0), w.get(x.Src[0], l), 0))
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
		for v := range a.Vec {
			old := a.Element(p, v)
			third := uint64(0)
			if len(x.Src) > a.Vec {
				third = w.get(x.Src[a.Vec+v], l)
			}
			a.PutElement(p, v, x.Atom(old, w.get(x.Src[v], l), third))
			if len(x.Dst) > 0 {
				w.put(x.Dst[v], l, old)
			}
		}
		r.settle()
	}
	return next
}
