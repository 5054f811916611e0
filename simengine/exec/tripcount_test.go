package exec

import (
	"math/rand/v2"
	"testing"

	"github.com/warptune/warptune/simengine/exec/alu"
	"github.com/warptune/warptune/simengine/exec/loopsample"
	"github.com/warptune/warptune/simengine/ir"
)

// TestTripCount compares with stepping through the loop.
func TestTripCount(t *testing.T) {
	const seed = 21
	r := rand.New(rand.NewPCG(seed, 0))
	cmps := []ir.Cmp{ir.CmpEQ, ir.CmpNE, ir.CmpLT, ir.CmpLE, ir.CmpGT, ir.CmpGE, ir.CmpLO, ir.CmpLS, ir.CmpHI, ir.CmpHS}
	types := []ir.Type{ir.S32, ir.U32, ir.S64, ir.U64, ir.B32}
	told := 0
	for round := 0; round < 20000; round++ {
		cmp, typ := cmps[r.IntN(len(cmps))], types[r.IntN(len(types))]
		if typ == ir.B32 {
			cmp = cmps[r.IntN(2)]
		}
		w := 8 * typ.Size()
		base := []uint64{0, 1 << (w - 1), uint64(1)<<(w-1) - 1, ^uint64(0)}[r.IntN(4)]
		x, y := base+uint64(r.IntN(400))-200, base+uint64(r.IntN(400))-200
		step, want := uint64(r.IntN(21)-10), r.IntN(2) == 0
		got := loopsample.TripCount(cmp, typ, x, step, y, want)
		if got < 0 {
			continue
		}
		told++
		c32, c64 := alu.SelectCompare(cmp, typ, false)
		holds := func(v uint64) bool {
			if c32 != nil {
				return c32(&alu.Vec32{uint32(v)}, &alu.Vec32{uint32(y)})&1 == 1
			}
			return c64(&alu.Vec64{v}, &alu.Vec64{y})&1 == 1
		}
		if got > 1e4 { // too long to step through: look at its end
			if last := x + uint64(got-1)*step; holds(last) != want || holds(last+step) == want {
				t.Fatalf("seed %d round %d: %v.%v of %#x + i*%d and %#x does not end after %d", seed, round, cmp, typ, x, int64(step), y, got)
			}
			continue
		}
		n := int64(0)
		for v := x; holds(v) == want && n <= got; v += step {
			n++
		}
		if n != got {
			t.Fatalf("seed %d round %d: %v.%v of %#x + i*%d and %#x is %v %d times, counted %d", seed, round, cmp, typ, x, int64(step), y, want, n, got)
		}
	}
	if told < 5000 {
		t.Errorf("only %d of 20000 loops could be told", told)
	}
}

// loopBody is bodyKernel with one loop; it returns the program for Slice mode.
