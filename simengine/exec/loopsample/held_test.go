package loopsample

import (
	"math/rand/v2"
	"testing"

	"github.com/warptune/warptune/simengine/ir"
)

// TestHeld compares with counting.
func TestHeld(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	cmps := []ir.Cmp{ir.CmpEQ, ir.CmpNE, ir.CmpLT, ir.CmpLE, ir.CmpGT, ir.CmpGE, ir.CmpLO, ir.CmpLS, ir.CmpHI, ir.CmpHS}
	types := []ir.Type{ir.S32, ir.U32, ir.B32, ir.S64, ir.U64}
	for range 200_000 {
		cmp, typ := cmps[r.IntN(len(cmps))], types[r.IntN(len(types))]
		x, y, step := uint64(r.IntN(41)-20), uint64(r.IntN(41)-20), uint64(r.IntN(13)-6)
		if r.IntN(8) == 0 {
			x += 1 << 31
		}
		const most = 64
		signed := typ.IsSigned()
		if _, s := ordered(cmp, signed); !s {
			signed = false
		}
		w := 8 * typ.Size()
		n, v := int64(0), x
		for n < most && Holds(cmp, typ, v, y) == Holds(cmp, typ, x, y) {
			before := int64(extend(v, w, signed))
			v += step
			n++
			now := int64(extend(v, w, signed))
			if now-before != int64(extend(step, w, true)) || !signed && now < 0 != (before < 0) {
				break // it wrapped
			}
		}
		if got := min(Held(cmp, typ, x, step, y), most); got != n && !(got == 0 && w == 64) {
			t.Fatalf("cmp %v of %v: %d by %d with %d: %d, want %d", cmp, typ, int64(x), int64(step), int64(y), got, n)
		}
	}
}
