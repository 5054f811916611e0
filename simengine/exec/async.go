package exec

import (
	"math/bits"

	"github.com/warptune/warptune/simengine/exec/internal/code"
	"github.com/warptune/warptune/simengine/ir"
)

// copyAsync is cp.async: the data lands at once; the race checker knows that
// nobody may look before wait_group. e is the extent of what all lanes write.
func (r *Runner) copyAsync(w *warp, in *code.Instr, mask uint32, e extent) signal {
	a, g := in.X.Access, in.X.Access.Second
	r.saved = r.addr
	from := w.addresses(g, &r.addr)
	reading := r.readingLanes(w, g, mask)
	if reading != 0 {
		if s := r.check(w, in, g, ir.Global, reading, from.of(&r.addr, reading)); s != next {
			bad, s := r.goPast(g, ir.Global, reading)
			if s != next {
				return s
			}
			reading &^= bad
		}
	}
	if reading != 0 {
		r.observe(w, in, ir.Global, g.Width, reading, a.Data)
		if r.series != nil {
			if s := r.globalRaces(w, in, g, reading, false); s != next {
				return s
			}
		}
	}
	r.addr, r.saved = r.saved, r.addr
	if s := r.check(w, in, a, ir.Shared, mask, e.of(&r.addr, mask)); s != next {
		bad, s := r.goPast(a, ir.Shared, mask)
		if mask &^= bad; s != next || mask == 0 {
			return s
		}
	}
	r.observe(w, in, ir.Shared, a.Width, mask, a.Data)
	if r.p.Tracks {
		if s := r.touchTiles(w, in, a, mask); s != next {
			return s
		}
	}
	if r.filter != nil && !r.passesCopies(w, a.Width, mask) {
		r.suspect = true
		return faulted
	}
	if r.races != nil {
		if s := r.raceCheck(w, in, a, ir.Shared, mask); s != next {
			return s
		}
	}
	if r.definedness != nil {
		r.definedness.access(r, w, in, a, ir.Shared, mask)
	}
	if !a.Data {
		return next
	}
	var c cursor
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		n := a.Width
		if reading>>l&1 == 0 {
			n = 0
		}
		if g.Size.File == code.File32 {
			n = min(n, int(w.r32[g.Size.Index][l]))
		}
		dst := r.shared[r.addr[l] : r.addr[l]+uint64(a.Width)]
		clear(dst)
		if n == 0 {
			continue
		}
		p := r.bytes(&c, g, r.saved[l], false)
		if p == nil {
			return r.pageLimit(w, in)
		}
		copy(dst, p[:n])
	}
	return next
}

// readingLanes are the lanes whose source size is not zero, and whose source is not ignored.
func (r *Runner) readingLanes(w *warp, g *code.Access, mask uint32) uint32 {
	if g.Size.File == code.FilePred {
		return mask &^ w.pred[g.Size.Index]
	}
	if g.Size.File != code.File32 {
		return mask
	}
	size := &w.r32[g.Size.Index]
	for l := range size {
		if size[l] == 0 {
			mask &^= 1 << l
		}
	}
	return mask
}
