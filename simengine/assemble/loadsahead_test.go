package assemble

import (
	"fmt"
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine/assemble/mir"
)

// elementwise is a kernel for sm_90a whose threads load n elements and compute four values of each, which one sum needs,
// with statements behind.
func elementwise(n int, behind string) string {
	var b strings.Builder
	b.WriteString(".version 8.3\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 a, .param .u64 b)\n.reqntid 32\n{\n" +
		".reg .b32 %r<9>; .reg .f32 %f<999>; .reg .b64 %rd<9>;\n" +
		"ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 64; add.s64 %rd4, %rd1, %rd3; add.s64 %rd5, %rd2, %rd3;\n")
	for i := range n {
		fmt.Fprintf(&b, "ld.global.f32 %%f%d, [%%rd4+%d];\n", 8*i, 4096*i)
	}
	for i := range n {
		x := 8 * i
		for k := 1; k <= 4; k++ {
			fmt.Fprintf(&b, "mul.f32 %%f%d, %%f%d, 0f3F%d00000;\n", x+k, x, k)
		}
		fmt.Fprintf(&b, "mul.f32 %%f%d, %%f%d, %%f%d; fma.rn.f32 %%f%d, %%f%d, %%f%d, %%f%d;\n", x+5, x+1, x+2, x+6, x+3, x+4, x+5)
	}
	for i := range n {
		fmt.Fprintf(&b, "st.global.f32 [%%rd5+%d], %%f%d;\n", 4096*i, 8*i+6)
	}
	return b.String() + behind + "ret;\n}\n"
}

// Elements of a tile are worked on one after the other, although registers are offered that would do for all at once;
// all loads are under way before. A program with products keeps the order by height.
func TestArithmeticDoesNotGoAheadAsLoadsDo(t *testing.T) {
	const n = 16
	src := elementwise(n, "")
	p := must(t, src, hopper)
	if p.Registers > n+16 {
		t.Errorf("%d registers for %d elements, want at most 16 more", p.Registers, n)
	}
	loads := 0
	for _, in := range p.Blocks[0].Instrs {
		if in.Class == mir.FMA {
			break
		}
		if in.Class == mir.Load {
			loads++
		}
	}
	if loads < n {
		t.Errorf("%d loads before the first product, want %d", loads, n)
	}
	without := hopper
	without.Without = []string{"loads-ahead"}
	all := must(t, src, without).Registers
	if all < p.Registers+8 {
		t.Errorf("%d registers by height, want many more than %d", all, p.Registers)
	}
	product := "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f990,%f991,%f992,%f993}, {%r1,%r1,%r1,%r1}, {%r1,%r1}, {%f6,%f14,%f22,%f30};\nst.global.f32 [%rd5], %f990;\n"
	if got, want := must(t, elementwise(n, product), hopper).Registers, must(t, elementwise(n, product), without).Registers; got != want {
		t.Errorf("beside a product %d registers, want %d", got, want)
	}
}
