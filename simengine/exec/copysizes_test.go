package exec

import (
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine/ir"
)

// The last iterations of a pipeline's loop copy nothing: none of them is left out as if it did, whether the loop carries
// the stage as a number that comes round or by its address alone.
func TestLastIterationsCopyNothing(t *testing.T) {
	const ahead, rounds = 3, 40
	for name, next := range map[string]string{
		"a stage that comes round": "add.s32 %r2, %r2, 1;\nsetp.gt.s32 %p1, %r2, 3;\nselp.b32 %r2, 0, %r2, %p1;",
		"one stage":                "",
	} {
		body := "mov.u32 %r1, 0;\nmov.u32 %r2, 0;\nl:\nsetp.lt.s32 %p2, %r1, 37;\n" + next + `
			shl.b32 %r3, %r2, 9;
			add.s32 %r3, %r3, %r31;
			selp.b32 %r4, 4, 0, %p2;
			cp.async.ca.shared.global [%r3], [%rd4], 4, %r4;
			cp.async.commit_group;
			cp.async.wait_group 0;
			bar.sync 0;
			add.s64 %rd4, %rd4, 16;
			add.s32 %r1, %r1, 1;
			setp.lt.s32 %p3, %r1, 40;
			@%p3 bra l;`
		k := buildKernel(t, "k.ptx", []byte(strings.Replace(bodyKernel("", body), "sm_90", "sm_90a", 1)))
		l, m := launchBody(t, k, 32)
		j := newJournal()
		if err := NewRunner(compileFor(t, k, Slice)).Run(l, m, 0, Options{LoopSample: 3}, j); err != nil {
			t.Fatal(err)
		}
		executed, copied, left := 0, 0, int64(0)
		for _, e := range j.warps[0] {
			switch {
			case e.repeat > 0:
				left += e.repeat
			case e.block < 0 && e.space == ir.Global && e.mask != 0:
				copied++
			case e.block == 1:
				executed++
			}
		}
		if left == 0 || int64(executed)+left != rounds || executed-copied != ahead {
			t.Errorf("%s: %d iterations executed, %d left out; %d of those executed copy nothing, want %d of %d", name, executed, left, executed-copied, ahead, rounds)
		}
	}
}
