package assemble

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// filtered is a filter of size by size weights over rows results a lane, one
// below the other: words of shared memory are loaded where the first result needs
// them, weights outside and results inside, as compilers unroll it.
func filtered(size, rows int) string {
	var sb strings.Builder
	fmt.Fprintf(&sb, header+`.visible .entry filtered(.param .u64 a)
{
.reg .f32 %%s<%d>;
.reg .f32 %%a<%d>;
.reg .b32 %%r<3>;
.reg .b64 %%rd<5>;
.shared .align 4 .b8 tile[16384];
%smov.u32 %%r2, tile;
mad.lo.s32 %%r2, %%r1, 4, %%r2;
`, rows, (size+rows)*size, ownWord)
	for y := range rows {
		fmt.Fprintf(&sb, "mov.f32 %%s%d, 0f00000000;\n", y)
	}
	loaded := map[int]bool{}
	for i := range size {
		for j := range size {
			for y := range rows {
				at := (i+y)*size + j
				if !loaded[at] {
					loaded[at] = true
					fmt.Fprintf(&sb, "ld.shared.f32 %%a%d, [%%r2+%d];\n", at, 256*(i+y)+4*j)
				}
				fmt.Fprintf(&sb, "fma.rn.f32 %%s%d, %%a%d, 0f3F%06X, %%s%d;\n", y, at, 64*(i*size+j), y)
			}
		}
	}
	for y := range rows {
		fmt.Fprintf(&sb, "st.global.f32 [%%rd4+%d], %%s%d;\n", 128*y, y)
	}
	sb.WriteString("ret;\n}\n")
	return sb.String()
}

// Words that several results share are used up by all of them before the next: the
// program's order keeps (rows-1)*size of them, the order of demand all.
func TestSharedWordsAreUsedUp(t *testing.T) {
	for _, x := range []struct{ size, rows int }{{9, 4}, {11, 7}, {15, 8}} {
		for _, cc := range [][2]int{{7, 5}, {8, 6}, {9, 0}} {
			p := must(t, filtered(x.size, x.rows), Options{CC: cc})
			tg, err := targetFor(cc)
			if err != nil {
				t.Fatal(err)
			}
			if p.Registers > tg.steps[0] || p.SpillBytes != 0 {
				t.Errorf("size %d, %d results for sm_%d%d: %d registers and %d bytes spilled, want at most %d and none",
					x.size, x.rows, cc[0], cc[1], p.Registers, p.SpillBytes, tg.steps[0])
			}
			loads := 0
			for b := range p.Blocks {
				for _, in := range p.Blocks[b].Instrs {
					if in.Class == Load {
						loads++
					}
				}
			}
			if want := (x.size + x.rows - 1) * x.size; loads != want {
				t.Errorf("size %d, %d results for sm_%d%d: %d loads, want %d", x.size, x.rows, cc[0], cc[1], loads, want)
			}
		}
	}
}

// closingOrder is a permutation that keeps every dependence, of any block.
func TestClosingOrderKeepsDependences(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	for range 20 {
		src := filtered(3+rng.IntN(5), 1+rng.IntN(6))
		if rng.IntN(2) == 0 {
			src = product(1+rng.IntN(6), 1+rng.IntN(20))
		}
		if err := closingKeeps(selectFor(t, buildKernel(t, "x", []byte(src)), [2]int{7, 5})); err != nil {
			t.Error(err)
		}
	}
}

// closingKeeps says which dependence closingOrder breaks, if any.
func closingKeeps(f *mfn) error {
	s := new(scratch).grow(f)
	for _, b := range f.order {
		g := f.newDAG(f.blocks[b].insts, s, false, &dag{})
		order := closingOrder(g, s.general)
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
