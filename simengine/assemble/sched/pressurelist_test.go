package sched

import (
	"testing"

	"github.com/warptune/warptune/simengine/assemble/asmtest"
	"github.com/warptune/warptune/simengine/assemble/mir"
)

// chosen is a kernel with instructions selected and ordered.
func chosen(t *testing.T, src string) *mir.Func {
	f := asmtest.SelectFor(t, asmtest.BuildKernel(t, "outer", []byte(src)), [2]int{9, 0})
	s := new(Scratch).Grow(f)
	FewestRegisters(f, s)
	ByPressureList(f, s)
	return f
}

// A tile of sums takes a column and one element of a row beside it, not both whole.
func TestTilesAreUsedUpColumnByColumn(t *testing.T) {
	for _, n := range []int{2, 4, 8} {
		f := chosen(t, asmtest.Outer(n, 2))
		const addresses = 3 // of global and of shared memory
		if most := n*n + n + 1 + addresses; f.Pressure() > most {
			t.Errorf("%d by %d sums: %d registers live, want %d", n, n, f.Pressure(), most)
		}
	}
}

// Every top-down pressure order has each instruction once, after those it depends on.
func TestPressureListKeepsDependences(t *testing.T) {
	f := chosen(t, asmtest.Outer(3, 4))
	s, o := new(Scratch).Grow(f), newPressureList(f)
	for _, b := range f.Order {
		g := newDAG(f, f.Blocks[b].Insts, s, false, &dag{})
		at := map[int32]int{}
		for k, i := range o.order(b, g, nil) {
			at[i] = k
		}
		if len(at) != len(g.insts) {
			t.Fatalf("%d of %d instructions", len(at), len(g.insts))
		}
		for i := range int32(len(g.insts)) {
			for k := g.head[i]; k >= 0; k = g.edges[k].next {
				if to := g.edges[k].to; at[to] < at[i] {
					t.Errorf("instruction %d comes before %d, which it depends on", to, i)
				}
			}
		}
	}
}
