package assemble

import (
	"fmt"
	"strings"
	"testing"
)

// Where a loop needs more registers than there are, addresses are worked out in it, and take no place in local memory.
// That is in PTX for one architecture; there the bytes spilled are fewer by those of the addresses.
func TestAddressesInLoopsThatSpill(t *testing.T) {
	const sums, addresses = 280, 60
	var before, body, after strings.Builder
	fmt.Fprintf(&before, ".reg .f32 %%a<%d>; .reg .b32 %%i<%d>; ", sums, addresses)
	for i := range addresses {
		fmt.Fprintf(&before, "xor.b32 %%i%d, %%r2, %d; ", i, 4*i+4)
	}
	for i := range sums {
		fmt.Fprintf(&before, "ld.global.f32 %%a%d, [%%rd3+%d]; ", i, 4*i)
		fmt.Fprintf(&body, "ld.volatile.shared.f32 %%f2, [%%i%d]; fma.rn.f32 %%a%d, %%a%d, %%f2, %%f2; ", i*addresses/sums, i, i)
		fmt.Fprintf(&after, "add.f32 %%f1, %%f1, %%a%d; st.volatile.global.f32 [%%rd3], %%f1; ", i)
	}
	src := guardedText(before.String() + "mov.u32 %r3, 0; L: " + body.String() + "add.s32 %r3, %r3, 1; setp.lt.s32 %p2, %r3, %r1; @%p2 bra L; " + after.String())
	all := must(t, src, hopper).SpillBytes
	specific := must(t, strings.Replace(src, "sm_90\n", "sm_90a\n", 1), hopper).SpillBytes
	if least := 4 * (sums - 255); specific < least || specific > all-4*addresses/2 {
		t.Errorf("%d bytes spilled for sm_90a, %d for sm_90; want %d at least and %d fewer", specific, all, least, 4*addresses/2)
	}
}
