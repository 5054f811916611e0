package sched

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/warptune/warptune/simengine/assemble/asmtest"
	"github.com/warptune/warptune/simengine/assemble/mir"
)

// bottomUpOrder is a permutation that keeps every dependence, of any block.
func TestBottomUpKeepsDependences(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	for range 20 {
		src := asmtest.Filtered(3+rng.IntN(5), 1+rng.IntN(6))
		if rng.IntN(2) == 0 {
			src = asmtest.Product(1+rng.IntN(6), 1+rng.IntN(20))
		}
		if err := keepsDependences(asmtest.SelectFor(t, asmtest.BuildKernel(t, "x", []byte(src)), [2]int{7, 5})); err != nil {
			t.Error(err)
		}
	}
}

// keepsDependences says which dependence bottomUpOrder breaks, if any.
func keepsDependences(f *mir.Func) error {
	s := new(Scratch).Grow(f)
	for _, b := range f.Order {
		g := newDAG(f, f.Blocks[b].Insts, s, false, &dag{})
		order := bottomUpOrder(g, s.general, s)
		at := make([]int, len(g.insts))
		for i := range at {
			at[i] = -1
		}
		for k, i := range order {
			at[i] = k
		}
		for i := range g.insts {
			if at[i] < 0 || len(order) != len(g.insts) {
				return fmt.Errorf("block %d: %d of %d instructions ordered, not %d", b, len(order), len(g.insts), i)
			}
			for k := g.head[i]; k >= 0; k = g.edges[k].next {
				if at[g.edges[k].to] < at[i] {
					return fmt.Errorf("block %d: %d comes after %d, which depends on it", b, i, g.edges[k].to)
				}
			}
		}
	}
	return nil
}
