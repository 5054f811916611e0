package assemble

import (
	"testing"

	"github.com/warptune/warptune/simengine/assemble/asmtest"
	"github.com/warptune/warptune/simengine/assemble/mir"
)

// constText is a kernel that reads constants in a loop, at %rd5.
func constText(index string) string {
	return asmtest.LoopKernel(".const .align 16 .b8 pad[16];\n.const .align 16 .b8 coef[1024];\n", "mov.u64 %rd4, coef; mov.u64 %rd5, coef;",
		".pragma \"nounroll\"; ld.global.f32 %f2, [%rd3]; "+index, "64")
}

// inLoop counts the instructions of each operation in the blocks of loops.
func inLoop(t *testing.T, src string) map[mir.Op]int {
	t.Helper()
	k, tg := asmtest.BuildKernel(t, "k", []byte(src)), mustTarget(t, hopper.CC)
	tg.Specific = k.Specific()
	f, err := selected(k, tg)
	if err != nil {
		t.Fatal(err)
	}
	n := map[mir.Op]int{}
	for _, b := range f.Order {
		for i := range f.Blocks[b].Insts {
			if f.Blocks[b].LoopDepth > 0 {
				n[f.Blocks[b].Insts[i].Op]++
			}
		}
	}
	return n
}

// loopHas checks how many of some operations the loop of a kernel comes to, and that it
// assembles for Hopper.
func loopHas(t *testing.T, name, src string, want map[mir.Op]int) {
	t.Helper()
	n := inLoop(t, src)
	for op, k := range want {
		if n[op] != k {
			t.Errorf("%s: %d %s in the loop, want %d", name, n[op], op, k)
		}
	}
	must(t, src, hopper)
}

// The address of a constant array is an immediate of the load that indexes it.
func TestConstantIndexNeedsNoSum(t *testing.T) {
	n := inLoop(t, constText("add.s32 %r4, %r2, %r3; and.b32 %r5, %r4, 255; mul.wide.u32 %rd6, %r5, 4; add.s64 %rd7, %rd4, %rd6; ld.const.f32 %f3, [%rd7]; fma.rn.f32 %f1, %f2, %f3, %f1;"))
	if n[mir.OpLDC] != 1 || n[mir.OpIADD3] != 2 || n[mir.OpMOV] != 0 || n[mir.OpIMADWIDE] != 0 {
		t.Errorf("%d indexed loads, %d sums, %d moves, %d wide products in the loop; want 1, 2 (index and counter), 0 and 0", n[mir.OpLDC], n[mir.OpIADD3], n[mir.OpMOV], n[mir.OpIMADWIDE])
	}
}

// Constants that all lanes read are loaded in pairs into uniform registers, from
// an address there of one word.
func TestUniformConstantsStayUniform(t *testing.T) {
	loopHas(t, "a pair", constText("ld.const.f32 %f3, [%rd5]; fma.rn.f32 %f1, %f2, %f3, %f1; ld.const.f32 %f4, [%rd5+4]; fma.rn.f32 %f1, %f2, %f4, %f1; add.s64 %rd5, %rd5, 8;"), map[mir.Op]int{mir.OpULDCX: 1, mir.OpLDC: 0, mir.OpMOV: 0, mir.OpUIADD3: 1})
}

// Four words are two pairs, where every reader takes them from uniform registers: not
// where one negates, nor where an instruction reads two. A parameter makes room.
func TestUniformConstantsByReaders(t *testing.T) {
	const load = "ld.const.v4.f32 {%f3, %f4, %f5, %f6}, [%rd5]; add.s64 %rd5, %rd5, 16; "
	for _, c := range []struct {
		name, body       string
		uniform, general int
	}{
		{"one each", "fma.rn.f32 %f1, %f2, %f3, %f1; fma.rn.f32 %f1, %f2, %f4, %f1; fma.rn.f32 %f1, %f2, %f5, %f1; fma.rn.f32 %f1, %f2, %f6, %f1;", 2, 0},
		{"one negated", "fma.rn.f32 %f1, %f2, %f3, %f1; neg.f32 %f7, %f4; fma.rn.f32 %f1, %f7, %f1, %f2; fma.rn.f32 %f1, %f2, %f5, %f1; fma.rn.f32 %f1, %f2, %f6, %f1;", 0, 1},
		{"two in one", "fma.rn.f32 %f1, %f2, %f3, %f4; fma.rn.f32 %f1, %f2, %f5, %f1; fma.rn.f32 %f1, %f2, %f6, %f1;", 0, 1},
		{"beside a parameter", "mov.b32 %f8, %r1; fma.rn.f32 %f1, %f8, %f1, %f3; fma.rn.f32 %f1, %f2, %f4, %f1; fma.rn.f32 %f1, %f2, %f5, %f1; fma.rn.f32 %f1, %f2, %f6, %f1;", 2, 0},
	} {
		loopHas(t, c.name, constText(load+c.body), map[mir.Op]int{mir.OpULDCX: c.uniform, mir.OpLDC: c.general})
	}
	loopHas(t, "indexed by a counter", constText("add.s64 %rd6, %rd4, %rd5; ld.const.f32 %f3, [%rd6]; fma.rn.f32 %f1, %f2, %f3, %f1; add.s64 %rd5, %rd5, 4;"), map[mir.Op]int{mir.OpULDCX: 1, mir.OpLDC: 0})
}
