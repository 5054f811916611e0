package coalesce

import (
	"math/bits"

	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/trace"
)

// quad is the lanes that the texture unit serves in one turn.
const quad = 4

// Texture implements exec.TextureObserver. A fetch is one request: the lines of all texels that its lanes read. The
// texture unit takes the lanes by fours.
func (r *Recorder) Texture(warp int, t *trace.TextureRequest) {
	store := r.kernel.Instrs[t.PC].Op == ir.Sust
	q := &r.req
	q.reset()
	quads, wavefronts := 0, 0
	for first := 0; first < warpSize; first += quad {
		if t.Lanes>>first&(1<<quad-1) != 0 {
			quads++
		}
	}
	if t.N == 1 {
		wavefronts, _ = GlobalPasses(&t.Place[0], t.Mask[0], t.Width)
	}
	for n := range t.N {
		for m := t.Mask[n]; m != 0; m &= m - 1 {
			q.touch(t.Place[n][bits.TrailingZeros32(m)&(warpSize-1)], t.Width)
		}
	}
	q.seal(store)
	w := &r.cta.Warps[warp]
	a := trace.Access{PC: int32(t.PC), Space: ir.Global, Width: uint8(t.Width), Mask: t.Lanes, MaxSame: 1, Texels: uint8(max(t.Filtered, 1)),
		OneDimension: t.OneDimension, Gather: t.Gather, Passes: uint16(quads), Wavefronts: uint16(wavefronts), Ideal: uint16((bits.OnesCount32(t.Lanes) + quad - 1) / quad), First: int32(len(w.Lines)), NLines: uint16(q.N), Sectors: uint16(q.Sectors())}
	w.Lines = append(w.Lines, q.Lines[:q.N]...)
	w.Accesses = append(w.Accesses, a)
}
