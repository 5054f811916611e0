package assemble

import (
	"fmt"
	"strings"
	"testing"
)

// A cap is kept whatever lives in aligned groups: results of more products than it has registers for are spilled
// (ptxas 13.0.88 likewise: 64 registers under a cap of 64 for 64 by 64 results a warp in halves, sm_80).
func TestCapIsKeptByProducts(t *testing.T) {
	const products, steps = 32, 2
	var b strings.Builder
	fmt.Fprintf(&b, ".reg .f32 %%acc<%d>; .reg .b32 %%a<16>; .reg .b32 %%b<16>; ", 4*products)
	for i := range 4 * products {
		fmt.Fprintf(&b, "mov.f32 %%acc%d, 0f00000000; ", i)
	}
	b.WriteString("mov.u32 %r7, 0; $loop: .pragma \"nounroll\"; mov.u32 %r5, s; mad.lo.u32 %r6, %r1, 16, %r5; bar.sync 0; ")
	for k := range steps {
		for i := range 4 {
			fmt.Fprintf(&b, "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%%a%d,%%a%d,%%a%d,%%a%d}, [%%r6+%d]; ", 4*i, 4*i+1, 4*i+2, 4*i+3, 64*(k*8+i))
			fmt.Fprintf(&b, "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%%b%d,%%b%d,%%b%d,%%b%d}, [%%r6+%d]; ", 4*i, 4*i+1, 4*i+2, 4*i+3, 64*(k*8+4+i))
		}
		for p := range products {
			d := fmt.Sprintf("{%%acc%d,%%acc%d,%%acc%d,%%acc%d}", 4*p, 4*p+1, 4*p+2, 4*p+3)
			row, col := p%4*4, p/4*2
			fmt.Fprintf(&b, "%s%s, {%%a%d,%%a%d,%%a%d,%%a%d}, {%%b%d,%%b%d}, %s; ", halves, d, row, row+1, row+2, row+3, col, col+1, d)
		}
	}
	b.WriteString("add.u32 %r7, %r7, 1; setp.lt.u32 %p1, %r7, %r2; @%p1 bra $loop; ")
	for p := range products {
		fmt.Fprintf(&b, "st.global.v4.f32 [%%rd5+%d], {%%acc%d,%%acc%d,%%acc%d,%%acc%d}; ", 512*p, 4*p, 4*p+1, 4*p+2, 4*p+3)
	}
	src := kernelOf(b.String())
	for _, limit := range []int{64, 96, 128} {
		p := must(t, src, Options{CC: [2]int{8, 0}, MaxRegisters: limit})
		if p.Registers > limit || p.SpillStores == 0 {
			t.Errorf("under a cap of %d there are %d registers and %d spills", limit, p.Registers, p.SpillStores)
		}
	}
}
