package exec

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/warptune/warptune/simengine/exec/element"
	"github.com/warptune/warptune/simengine/exec/fault"
	"github.com/warptune/warptune/simengine/exec/internal/code"
	"github.com/warptune/warptune/simengine/exec/memory"
	"github.com/warptune/warptune/simengine/exec/texture"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/trace"
)

// TextureRequest is what the lanes of a warp read or write through the texture unit.
type TextureRequest = trace.TextureRequest

// TextureObserver is an Observer that is told of fetches and of accesses to surfaces.
type TextureObserver interface {
	Observer
	Texture(warp int, t *TextureRequest)
}

// textures performs a fetch, a query, or an access to a surface.
func (r *Runner) textures(w *warp, in *code.Instr, mask uint32) signal {
	o := in.X.Texture
	if !o.Data && r.opt.PathOnly {
		return next
	}
	q := &r.request
	q.PC, q.Lanes, q.N, q.Filtered, q.Width = int(in.PC), mask, 0, 1, 0
	q.OneDimension, q.Gather = false, false
	q.Mask = [trace.MostTexels]uint32{}
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		t, s := r.object(w, in, l)
		if s != next {
			return s
		}
		switch o.Op {
		case ir.Txq:
			w.put(in.X.Dst[0], l, uint64(t.Query(o.Texture.Query)))
			continue
		case ir.Tex:
			s = r.fetch(w, in, l, t)
		default:
			s = r.surface(w, in, l, t)
		}
		if s != next {
			return s
		}
	}
	if o.Op == ir.Txq {
		return next
	}
	r.account(o.Data, mask)
	if r.texObs != nil {
		r.texObs.Texture(w.id, q)
	}
	return next
}

// object is what a lane's handle stands for.
func (r *Runner) object(w *warp, in *code.Instr, l int) (*texture.Object, signal) {
	o := in.X.Texture
	h := w.get(o.Handle, l)
	t := r.mem.Texture(h)
	detail := ""
	switch {
	case t == nil:
		detail = fmt.Sprintf("%#x is no texture or surface that was passed", h)
	case o.Op == ir.Txq:
	case t.Surface != (o.Op != ir.Tex):
		detail = "a surface is used as a texture, or a texture as a surface"
	case t.Dims != o.Texture.Dims || (t.Layers > 0) != o.Texture.Layered:
		detail = fmt.Sprintf("the object has %d dimensions (layered: %v), the instruction %d (layered: %v)", t.Dims, t.Layers > 0, o.Texture.Dims, o.Texture.Layered)
	case o.Op == ir.Tex && o.Float && t.Linear && t.Dims == 1:
		detail = "linear memory of one dimension is read by tex1Dfetch, at integer coordinates"
	case o.Op == ir.Tex && !o.Float && t.Normalized:
		detail = "integer coordinates of a texture whose coordinates are normalised"
	case o.Op == ir.Tex && !o.Float && t.Filter:
		detail = "integer coordinates of a texture that is filtered"
	}
	if detail != "" {
		return nil, r.fail(w, in, fault.Fault{Kind: fault.Unsupported, Thread: w.thread(l), Detail: detail})
	}
	return t, next
}

// fetch reads and filters texels of one lane.
func (r *Runner) fetch(w *warp, in *code.Instr, l int, t *texture.Object) signal {
	o, f := in.X.Texture, &r.fetched
	layer := 0
	if o.Texture.Layered {
		layer = int(int32(w.get(o.Layer, l)))
	}
	if o.Float {
		var at [3]float32
		for d, s := range o.Coords {
			at[d] = math.Float32frombits(uint32(w.get(s, l)))
		}
		t.Sample(f, &at, layer, o.Texture.Gather)
	} else {
		var at [3]int32
		for d, s := range o.Coords {
			at[d] = int32(w.get(s, l))
		}
		t.Integer(f, &at, layer)
	}
	q := &r.request
	q.Width, q.N = max(q.Width, t.Texel()), max(q.N, f.N)
	q.OneDimension, q.Gather = t.Dims == 1, o.Texture.Gather
	if !o.Texture.Gather {
		q.Filtered = max(q.Filtered, f.N)
	}
	for n := range f.N {
		if x := &f.Texels[n]; !x.Outside {
			q.Mask[n] |= 1 << l
			q.Place[n][l] = t.Place(x.X*t.Texel(), x.Y, x.Z, f.Layer)
		}
	}
	if !o.Data {
		return next
	}
	full := false
	texel := func(x *texture.Texel) []byte {
		b := r.texel(t, x, f.Layer)
		if b == nil {
			full = true
			b = r.straddle[:]
		}
		return b
	}
	var v [4]uint32
	if o.Texture.Gather {
		v = t.Gather(f, o.Texture.Channel, texel)
	} else {
		v = t.Value(f, texel)
	}
	if full {
		return r.pageLimit(w, in)
	}
	for c, d := range in.X.Dst {
		w.put(d, l, uint64(v[c]))
	}
	return next
}

// texel is the bytes of a texel; nil: the page limit is reached. No texel crosses pages: its size divides theirs.
func (r *Runner) texel(t *texture.Object, x *texture.Texel, layer int) []byte {
	size := t.Texel()
	off := uint64(t.Index(x.X, x.Y, x.Z, layer)) * uint64(size)
	reg := r.mem.Find(t.Address, 1)
	p := r.mem.Page(reg, off>>memory.PageBits)
	if p == nil {
		return nil
	}
	in := off & (memory.PageSize - 1)
	return p.Data[in : in+uint64(size)]
}

// surface reads or writes bytes of one lane. The first coordinate counts bytes.
func (r *Runner) surface(w *warp, in *code.Instr, l int, t *texture.Object) signal {
	o, q := in.X.Texture, &r.request
	write := o.Op == ir.Sust
	at, outside, s := r.surfacePlace(w, in, l, t)
	if s != next {
		return s
	}
	q.Width, q.N = o.Width, 1
	if outside {
		if o.Data && !write {
			for _, d := range in.X.Dst {
				w.put(d, l, 0)
			}
		}
		return next
	}
	q.Mask[0] |= 1 << l
	q.Place[0][l] = t.Place(at[0], at[1], at[2], at[3])
	q.At[l] = t.Address + uint64(t.Index(0, at[1], at[2], at[3]))*uint64(t.Texel()) + uint64(at[0])
	if !o.Data {
		return next
	}
	var bytes [16]byte
	if !write {
		s := r.eachPage(w, in, l, q.At[l], o.Width, false, func(at int, part []byte) { copy(bytes[at:], part) })
		for n, d := range in.X.Dst {
			w.put(d, l, element.Load(bytes[n*o.Elem:], o.Elem))
		}
		return s
	}
	for n, v := range in.X.Src {
		element.Store(bytes[n*o.Elem:], w.get(v, l), o.Elem)
	}
	return r.eachPage(w, in, l, q.At[l], o.Width, true, func(at int, part []byte) { copy(part, bytes[at:]) })
}

// surfacePlace is the byte, row, slice and layer of a lane's access.
func (r *Runner) surfacePlace(w *warp, in *code.Instr, l int, t *texture.Object) (at [4]int, outside bool, s signal) {
	o := in.X.Texture
	most := [4]int{t.Size[0]*t.Texel() - o.Width, t.Size[1] - 1, t.Size[2] - 1, max(t.Layers, 1) - 1}
	set := func(i int, slot code.Slot) {
		v := int(int32(w.get(slot, l)))
		if v < 0 || v > most[i] {
			outside = true
			v = max(0, min(v, most[i]))
		}
		at[i] = v
	}
	for d, slot := range o.Coords {
		set(d, slot)
	}
	if o.Texture.Layered {
		set(3, o.Layer)
	}
	switch {
	case most[0] < 0:
		s = r.fail(w, in, fault.Fault{Kind: fault.OutOfBounds, Space: ir.Global, Address: t.Address, Thread: w.thread(l), Write: o.Op == ir.Sust, Width: o.Width, Detail: "a row of the surface is shorter than the access"})
	case at[0]%o.Width != 0 && !outside:
		s = r.fail(w, in, fault.Fault{Kind: fault.Misaligned, Space: ir.Global, Address: t.Address + uint64(at[0]), Thread: w.thread(l), Detail: "the first coordinate of a surface counts bytes: it " + alignText(uint64(o.Width))})
	case outside && o.Texture.Outside == ir.OutsideTrap:
		detail := fmt.Sprintf("outside the surface of %d bytes by %d by %d (the first coordinate counts bytes), %d layers", t.Size[0]*t.Texel(), t.Size[1], t.Size[2], t.Layers)
		s = r.fail(w, in, fault.Fault{Kind: fault.OutOfBounds, Space: ir.Global, Address: t.Address, Thread: w.thread(l), Write: o.Op == ir.Sust, Width: o.Width, Detail: detail})
	}
	if outside && o.Texture.Outside == ir.OutsideClamp {
		at[0] -= at[0] % o.Width
		outside = false
	}
	return at, outside, s
}
