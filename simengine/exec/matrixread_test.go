package exec

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/warptune/warptune/simengine/exec/alu"
	"github.com/warptune/warptune/simengine/exec/internal/code"
	"github.com/warptune/warptune/simengine/exec/mma"
	"github.com/warptune/warptune/simengine/ir"
)

// A matrix that was read before is the one that registers hold, whichever of them changed since.
func TestMatrixRead(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	w := &warp{r32: make([]alu.Vec32, 64), r64: make([]alu.Vec64, 4)}
	bits := func() { // numbers: no two are the same of which one is not a number
		for i := range w.r32 {
			for l := range w.r32[i] {
				w.r32[i][l] = r.Uint32() & 0x3fff3fff
			}
		}
	}
	bits()
	fragments := []*mma.Fragment{mma.FragmentOf(ir.F16, 16, 16), mma.FragmentOf(ir.BF16, 16, 16), mma.FragmentOf(ir.F16, 8, 16), mma.FragmentOf(ir.S8, 16, 32), mma.FragmentOf(ir.F64, 8, 4)}
	last, again := [32]matrixRead{}, 0
	for range 20_000 {
		f := fragments[r.IntN(len(fragments))]
		regs := make([]code.Slot, f.Elements/WarpSize*f.Bits/32)
		for n := range regs {
			regs[n] = code.Slot{File: code.File32, Index: int32((r.IntN(3)*2 + n) % 64)}
		}
		if f.Bits == 64 {
			regs = []code.Slot{{File: code.File64, Index: int32(r.IntN(4))}}
		}
		switch r.IntN(3) {
		case 0:
			w.r32[r.IntN(10)][r.IntN(WarpSize)] ^= 1 << r.IntN(14)
		case 1:
			w.r64[r.IntN(4)][r.IntN(WarpSize)] = r.Uint64() &^ (1 << 62)
		}
		if last[uint(regs[0].Index)%uint(len(last))].holds(w, f, regs) {
			again++
		}
		want := make([]float64, f.Elements)
		w.gather(f, regs, want)
		if got := w.read(&last, f, regs); !slices.Equal(got, want) {
			t.Fatalf("registers %v hold another matrix than was read", regs)
		}
	}
	if again < 200 {
		t.Errorf("%d matrices were known, want 200", again)
	}
}
