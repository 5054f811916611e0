package assemble

import (
	"fmt"
	"strings"
	"testing"
)

// product multiplies a tile of rows by steps values, the same for all lanes, with a
// column for each lane, steps outside and rows inside, as compilers unroll it.
func product(rows, steps int) string {
	var sb strings.Builder
	fmt.Fprintf(&sb, header+`.visible .entry product(.param .u64 a)
{
.reg .f32 %%s<%d>;
.reg .f32 %%a<%d>;
.reg .f32 %%b<%d>;
.reg .b32 %%r<4>;
.reg .b64 %%rd<5>;
.shared .align 16 .b8 left[4096];
.shared .align 16 .b8 right[4096];
%sshl.b32 %%r2, %%r1, 2;
mov.u32 %%r3, right;
add.s32 %%r3, %%r3, %%r2;
`, rows, rows*steps, steps, ownWord)
	for r := range rows {
		fmt.Fprintf(&sb, "ld.global.f32 %%s%d, [%%rd4+%d];\n", r, 128*r)
	}
	for k := range steps {
		fmt.Fprintf(&sb, "ld.shared.f32 %%b%d, [%%r3+%d];\n", k, 128*k)
		for r := range rows {
			fmt.Fprintf(&sb, "ld.shared.f32 %%a%d, [left+%d];\nfma.rn.f32 %%s%d, %%a%d, %%b%d, %%s%d;\n", r*steps+k, 128*r+4*k, r, r*steps+k, k, r)
		}
	}
	for r := range rows {
		fmt.Fprintf(&sb, "st.global.f32 [%%rd4+%d], %%s%d;\n", 128*r, r)
	}
	sb.WriteString("ret;\n}\n")
	return sb.String()
}

// Eight rows by 32 steps: neither all rows' vectors of four words nor all columns fit 32
// registers at once; one vector after the other does.
func TestVectorsAreUsedUpUnderACap(t *testing.T) {
	opt := hopper
	opt.MaxRegisters = 32
	p := must(t, product(8, 32), opt)
	if p.SpillBytes != 0 || p.Registers > 32 {
		t.Errorf("%d registers and %d bytes spilled under a cap of 32, want none spilled", p.Registers, p.SpillBytes)
	}
	if len(p.Joined) != 192 {
		t.Errorf("%d loads joined to others, want 192 of 288", len(p.Joined))
	}
}
