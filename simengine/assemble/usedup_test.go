package assemble

import (
	"fmt"
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine/assemble/asmtest"
)

// What each load brings is used up before the next, where loads are before a store only because they may touch the same
// bytes. That is in PTX for one architecture.
func TestLoadsUsedUpBeforeStores(t *testing.T) {
	const loads, addresses = 16, 12
	var before, read, write strings.Builder
	for i := range addresses { // in program order they wait for all loads
		fmt.Fprintf(&before, "xor.b32 %%i%d, %%r2, %d; mad.wide.s32 %%q%d, %%i%d, 4, %%rd1; ", i, i+1, i, i)
	}
	for i := range loads {
		fmt.Fprintf(&read, "ld.shared.v4.f32 {%%a0, %%a1, %%a2, %%a3}, [%%rd5+%d]; add.f32 %%a0, %%a0, %%a1; add.f32 %%a2, %%a2, %%a3; add.f32 %%b%d, %%a0, %%a2; ", 16*i, i)
		fmt.Fprintf(&write, "st.shared.f32 [%%rd4+%d], %%b%d; ", 4*i, i)
	}
	for i := range addresses {
		fmt.Fprintf(&write, "st.global.f32 [%%q%d], %%f1; ", i)
	}
	src := guardedText(fmt.Sprintf(".reg .b32 %%i<%d>; .reg .b64 %%q<%d>; .reg .f32 %%a<4>, %%b<%d>; %s %s %s", addresses, addresses, loads, before.String(), read.String(), write.String()))
	all, specific := must(t, src, hopper), must(t, strings.Replace(src, "sm_90\n", "sm_90a\n", 1), hopper)
	need := func(cc string) int {
		p, err := Prepare(asmtest.BuildKernel(t, "k", []byte(strings.Replace(src, "sm_90\n", cc+"\n", 1))), hopper)
		if err != nil {
			t.Fatal(err)
		}
		u, err := p.variant(0, 0)
		if err != nil {
			t.Fatal(err)
		}
		return u.peak
	}
	if all.SpillBytes+specific.SpillBytes > 0 {
		t.Errorf("spilled %d and %d bytes", all.SpillBytes, specific.SpillBytes)
	}
	if got, plain := need("sm_90a"), need("sm_90"); got > loads+8 || plain < 2*loads {
		t.Errorf("%d registers are live at most for sm_90a and %d for sm_90, want at most %d and %d at least", got, plain, loads+8, 2*loads)
	}
}
