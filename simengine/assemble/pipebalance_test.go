package assemble

import (
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine/assemble/asmtest"
	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/assemble/mir/peephole"
	"github.com/warptune/warptune/simengine/assemble/target"
)

// Sums, moves and shifts go to the multiplier's pipe until it has as much as the integer pipe, of the whole
// program. That is all of them where nothing is multiplied, none where most is, half where both have as much
// without them. Sums with an immediate do on Hopper only.
func TestPipesHaveAsMuch(t *testing.T) {
	logic := "xor.b32 %r3, %r4, %r2; add.s32 %r4, %r3, %r5; shf.l.wrap.b32 %r5, %r4, %r3, 7; "
	product := "mad.lo.s32 %r5, %r5, %r2, %r5; "
	float := "fma.rn.f32 %f1, %f1, %f2, %f2; "
	for _, c := range []struct {
		name, body string
		cc         [2]int
		low, high  float64 // of the sums of two registers
	}{
		{"logic", strings.Repeat(logic, 40), [2]int{9, 0}, 0.95, 1},
		{"logic on Turing", strings.Repeat(logic, 40), [2]int{7, 5}, 0.95, 1},
		{"multiply-adds", strings.Repeat(logic+strings.Repeat(float, 4), 40), [2]int{8, 6}, 0, 0.05},
		{"as much", strings.Repeat(logic+product+float, 40), [2]int{8, 0}, 0.4, 0.6},
	} {
		src := guardedText("mov.u32 %r4, %r1; mov.u32 %r5, %r1; cvt.rn.f32.s32 %f2, %r2; cvt.rn.f32.s32 %f1, %r1; " + c.body + "cvt.rn.f32.s32 %f3, %r5; add.f32 %f1, %f1, %f3;")
		tg, err := target.For(c.cc)
		if err != nil {
			t.Fatal(err)
		}
		f, err := selected(asmtest.BuildKernel(t, "k", []byte(src)), tg)
		if err != nil {
			t.Fatal(err)
		}
		if err := peephole.BalancePipes(f); err != nil {
			t.Fatal(err)
		}
		n := map[mir.Op]int{}
		for b := range f.Blocks {
			for i := range f.Blocks[b].Insts {
				n[f.Blocks[b].Insts[i].Op]++
			}
		}
		moved := float64(n[mir.OpIMADIADD]) / float64(n[mir.OpIMADIADD]+n[mir.OpIADD3])
		if moved < c.low || moved > c.high {
			t.Errorf("%s: %d sums in the multiplier's pipe, %d in the integer pipe", c.name, n[mir.OpIMADIADD], n[mir.OpIADD3])
		}
	}
}
