package assemble

import (
	"fmt"
	"strings"
	"testing"
)

// outer adds steps outer products to a tile of n by n sums: as compilers unroll
// it, each loads a column and a row and goes through the tile row by row.
func outer(n, steps int) string {
	var sb strings.Builder
	fmt.Fprintf(&sb, header+`.visible .entry outer(.param .u64 a)
{
.reg .f32 %%s<%d>;
.reg .f32 %%a<%d>;
.reg .f32 %%b<%d>;
.reg .b32 %%r<3>;
.reg .b64 %%rd<5>;
.shared .align 4 .b8 tile[8192];
%smov.u32 %%r2, tile;
mad.lo.u32 %%r2, %%r1, 4, %%r2;
`, n*n, n*steps, n*steps, ownWord)
	for i := range n * n {
		fmt.Fprintf(&sb, "ld.global.f32 %%s%d, [%%rd4+%d];\n", i, 128*i)
	}
	for k := range steps {
		for i := k * n; i < (k+1)*n; i++ {
			fmt.Fprintf(&sb, "ld.shared.f32 %%a%d, [%%r2+%d];\n", i, 132*i)
		}
		for i := k * n; i < (k+1)*n; i++ {
			fmt.Fprintf(&sb, "ld.shared.f32 %%b%d, [%%r2+%d];\n", i, 4096+132*i)
		}
		for i := range n * n {
			fmt.Fprintf(&sb, "fma.rn.f32 %%s%d, %%a%d, %%b%d, %%s%d;\n", i, k*n+i/n, k*n+i%n, i)
		}
	}
	for i := range n * n {
		fmt.Fprintf(&sb, "st.global.f32 [%%rd4+%d], %%s%d;\n", 128*i, i)
	}
	sb.WriteString("ret;\n}\n")
	return sb.String()
}

// chosen is a kernel with instructions selected and ordered.
func chosen(t *testing.T, src string) *mfn {
	f := selectFor(t, buildKernel(t, "outer", []byte(src)), [2]int{9, 0})
	s := new(scratch).grow(f)
	f.frugal(s)
	f.economise(s)
	return f
}

// A tile of sums takes a column and one element of a row beside it, not both whole.
func TestTilesAreUsedUpColumnByColumn(t *testing.T) {
	for _, n := range []int{2, 4, 8} {
		f := chosen(t, outer(n, 2))
		const addresses = 3 // of global and of shared memory
		if most := n*n + n + 1 + addresses; f.pressure() > most {
			t.Errorf("%d by %d sums: %d registers live, want %d", n, n, f.pressure(), most)
		}
	}
}

// Every order by thrift has each instruction once, after those it depends on.
func TestThriftKeepsDependences(t *testing.T) {
	f := chosen(t, outer(3, 4))
	s, o := new(scratch).grow(f), f.newThrift()
	for _, b := range f.order {
		g := f.newDAG(f.blocks[b].insts, s, false, &dag{})
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
