package coalesce

import (
	"math/bits"

	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/trace"
)

// quad is the lanes that the texture unit serves in one turn.
const quad = 4

// Texture implements exec.TextureObserver. A fetch is one request: the lines of all texels that its lanes read. The
// texture unit takes the lanes by fours, and each four as often as its texels are in lines.
func (r *Recorder) Texture(warp int, t *trace.TextureRequest) {
	store := r.kernel.Instrs[t.PC].Op == ir.Sust
	q := &r.req
	q.reset()
	turns := 0
	for first := 0; first < warpSize; first += quad {
		lanes := uint32(1<<quad-1) << first
		if t.Lanes&lanes != 0 {
			turns += max(1, r.quadLines(t, lanes))
		}
	}
	for n := range t.N {
		for m := t.Mask[n]; m != 0; m &= m - 1 {
			q.touch(t.Place[n][bits.TrailingZeros32(m)&(warpSize-1)], t.Width)
		}
	}
	q.seal(store)
	w := &r.cta.Warps[warp]
	a := trace.Access{PC: int32(t.PC), Space: ir.Global, Width: uint8(t.Width), Mask: t.Lanes, MaxSame: 1, Texels: uint8(max(t.Filtered, 1)),
		Passes: uint16(turns), Ideal: uint16((bits.OnesCount32(t.Lanes) + quad - 1) / quad), First: int32(len(w.Lines)), NLines: uint16(q.N), Sectors: uint16(q.Sectors())}
	w.Lines = append(w.Lines, q.Lines[:q.N]...)
	w.Accesses = append(w.Accesses, a)
}

// quadLines is how many lines the texels of some lanes lie in.
func (r *Recorder) quadLines(t *trace.TextureRequest, lanes uint32) int {
	var seen [quad * 8]uint64
	k := 0
	for n := range t.N {
		for m := t.Mask[n] & lanes; m != 0; m &= m - 1 {
			line := t.Place[n][bits.TrailingZeros32(m)&(warpSize-1)] >> lineShift
			known := false
			for _, s := range seen[:k] {
				known = known || s == line
			}
			if !known {
				seen[k] = line
				k++
			}
		}
	}
	return k
}
