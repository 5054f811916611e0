package assemble

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine/assemble/asmtest"
	"github.com/warptune/warptune/simengine/assemble/mir"
)

// Where registers are scarce the uniform datapath computes the addresses that all lanes agree on, unless a division is on
// the way to them.
func TestLoopAddressesWhereRegistersAreScarce(t *testing.T) {
	for _, x := range []struct {
		place   string // of a row, in %r4
		scarce  bool
		uniform bool
	}{
		{"shl.b32 %r4, %r5, 3;", true, true},
		{"shl.b32 %r4, %r5, 3;", false, false},
		{"div.u32 %r4, %r5, %r1;", true, false},
	} {
		src := strings.Replace(guardedText(fmt.Sprintf(`mov.u32 %%r5, %%ctaid.x; %s mul.wide.s32 %%rd6, %%r4, 4; add.s64 %%rd7, %%rd1, %%rd6; mov.u32 %%r3, 0;
L: mad.wide.s32 %%rd8, %%r2, 4, %%rd7; red.global.add.f32 [%%rd8], %%f1; add.s64 %%rd7, %%rd7, 64;
add.s32 %%r3, %%r3, 1; setp.lt.s32 %%p2, %%r3, %%r1; @%%p2 bra L;`, x.place)), "sm_90\n", "sm_90a\n", 1)
		tg := mustTarget(t, hopper.CC)
		tg.Specific = true
		base, err := prepared(asmtest.BuildKernel(t, "k", []byte(src)), tg, new(Workspace))
		if err != nil {
			t.Fatal(err)
		}
		remat := 0
		if x.scarce {
			remat = 1
		}
		u, err := base.selected(remat, false)
		if err != nil {
			t.Fatal(err)
		}
		uniform := false
		for b := range u.mir.Blocks {
			uniform = uniform || u.mir.Blocks[b].LoopDepth > 0 && slices.ContainsFunc(u.mir.Blocks[b].Insts, func(in mir.Inst) bool { return in.Op == mir.OpUIADD3 && in.Dst[0].Word == 1 })
		}
		if uniform != x.uniform {
			t.Errorf("%s with scarce registers %v: stepped on the uniform datapath is %v:\n%s", x.place, x.scarce, uniform, asmtest.Listing(u.mir))
		}
	}
}
