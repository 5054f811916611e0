package assemble

import (
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine/assemble/asmtest"
	"github.com/warptune/warptune/simengine/assemble/mir"
)

// Variables that a loop stores as vectors lie where it takes them, whatever vectors they are of after the loop.
func TestVariablesLieAsLoopsStoreThem(t *testing.T) {
	const stores = "st.shared.v2.u32 [%r2], {%r4, %r5}; st.shared.v2.u32 [%r2+1024], {%r6, %r7}; "
	const after = "st.global.v2.u32 [%rd3], {%r4, %r6}; st.global.v2.u32 [%rd3+8], {%r5, %r7};"
	src := asmtest.LoopKernel("", "mov.u32 %r4, 1; mov.u32 %r5, 2; mov.u32 %r6, 3; mov.u32 %r7, 4;",
		stores+"add.s32 %r4, %r4, %r2; xor.b32 %r5, %r5, %r4; add.s32 %r6, %r6, %r5; xor.b32 %r7, %r7, %r6;", "%r1")
	src = strings.Replace(strings.Replace(src, "st.global.f32 [%rd3], %f1;", after, 1), "sm_90\n", "sm_90a\n", 1)
	loopHas(t, "two pairs", src, map[mir.Op]int{mir.OpSTS: 2, mir.OpMOV: 0})
}

// Shuffles take the words of a variable of 64 bits from where they are, if it is written after them only.
func TestShufflesTakeWordsOfVariables(t *testing.T) {
	const shuffle = "mov.b64 {%r4, %r5}, %rd4; shfl.sync.bfly.b32 %r6, %r4, 1, 31, -1; "
	const rest = "shfl.sync.bfly.b32 %r7, %r5, 1, 31, -1; mov.b64 %rd5, {%r6, %r7}; "
	const last = "min.u64 %rd4, %rd4, %rd5; st.global.u64 [%rd3+8], %rd4;"
	for _, c := range []struct {
		name, body string
		moves      int
	}{
		{"before", shuffle + rest + last, 0},
		{"one of two after", shuffle + "add.s64 %rd4, %rd4, 5; " + rest + last, 1},
	} {
		loopHas(t, c.name, loopText("mov.u64 %rd4, 7;", c.body), map[mir.Op]int{mir.OpMOV: c.moves})
	}
}

// Of plain loads of a block from one address with nothing between that may write there one is left, as ptxas 12.8 has it.
func TestRepeatedLoadsAreOne(t *testing.T) {
	const again = " ld.global.f32 %f2, [%rd4]; add.f32 %f3, %f1, %f2; st.global.f32 [%rd5], %f3;"
	for _, c := range []struct {
		name, between string
		loads         int
	}{
		{"nothing between", "", 1},
		{"a store to shared memory", "st.shared.f32 [s], %f1;", 1},
		{"a shuffle", "mov.b32 %r4, %f1; shfl.sync.bfly.b32 %r5, %r4, 1, 31, -1; st.shared.b32 [s], %r5;", 1},
		{"a store", "st.global.f32 [%rd5+4], %f1;", 2},
		{"a barrier", "bar.sync 0;", 2},
		{"a fence", "membar.cta;", 2},
		{"an atomic", "red.global.add.f32 [%rd5+8], %f1;", 2},
		{"another block", "setp.lt.u32 %p1, %r1, %r2; @%p1 bra END;", 2}, // ptxas has one there, too
	} {
		src := kernelOf("ld.global.f32 %f1, [%rd4]; " + c.between + again)
		if n := selectedOps(t, src, hopper.CC); n[mir.OpLDG] != c.loads {
			t.Errorf("%s: %d LDG, want %d", c.name, n[mir.OpLDG], c.loads)
		}
		if p := must(t, src, hopper); len(p.Joined) != 2-c.loads {
			t.Errorf("%s: %d loads make no access, want %d", c.name, len(p.Joined), 2-c.loads)
		}
	}
	hint := kernelOf("ld.global.cs.f32 %f1, [%rd4];" + again)
	if n := selectedOps(t, hint, hopper.CC); n[mir.OpLDG] != 2 {
		t.Errorf("another hint: %d LDG, want 2", n[mir.OpLDG])
	}
}

// What a load under a mask that is always true had before, be it a register's value, is set nowhere.
func TestTrueMasksLeaveNothing(t *testing.T) {
	src := strings.Replace(kernelOf("mov.b32 %r4, 0; mov.pred %p1, -1; mov.u32 %r5, %r4; mov.u32 %r6, %r4; @%p1 ld.global.v2.b32 {%r5, %r6}, [%rd4]; "+
		"{.reg .b16 l, h; mov.b32 {l, h}, %r5; cvt.f32.f16 %f1, l; cvt.f32.f16 %f2, h;} add.f32 %f3, %f1, %f2; mov.b32 %r7, %f3; add.s32 %r7, %r7, %r6; st.global.b32 [%rd5], %r7;"), "sm_90\n", "sm_90a\n", 1)
	if n := selectedOps(t, src, hopper.CC); n[mir.OpMOV]+n[mir.OpPRMT] != 0 {
		t.Errorf("%d MOV and %d PRMT, want none", n[mir.OpMOV], n[mir.OpPRMT])
	}
	must(t, src, hopper)
}

// A comparison takes in what it is combined with: an exclusive or if it is one of 64 bits.
func TestComparisonsTakeLogicIn(t *testing.T) {
	const end = " setp.lt.u32 %p1, %r1, %r2; "
	for _, c := range []struct {
		name, body string
		plop3      int
	}{
		{"xor of 64 bits", "setp.lt.u64 %p2, %rd4, %rd5; xor.pred %p3, %p1, %p2;", 0},
		{"and of 64 bits", "setp.lt.u64 %p2, %rd4, %rd5; and.pred %p3, %p1, %p2;", 0},
		{"xor of 32 bits", "setp.lt.u32 %p2, %r1, %r3; xor.pred %p3, %p1, %p2;", 1},
	} {
		src := kernelOf("xor.b32 %r4, %r1, 5;" + end + c.body + " selp.b32 %r5, %r4, %r3, %p3; st.global.b32 [%rd5], %r5;")
		if n := selectedOps(t, src, hopper.CC); n[mir.OpPLOP3] != c.plop3 {
			t.Errorf("%s: %d PLOP3, want %d", c.name, n[mir.OpPLOP3], c.plop3)
		}
		must(t, src, hopper)
	}
}

// Of two comparisons of floats one of which is true there is one, of integers there are two, as ptxas 12.8 has it.
func TestOppositeComparisonsAreOne(t *testing.T) {
	const loads = "ld.global.v2.f32 {%f1, %f2}, [%rd4]; ld.global.v2.b32 {%r4, %r5}, [%rd4+8]; "
	const use = " selp.f32 %f3, %f1, %f2, %p1; @%p2 ex2.approx.ftz.f32 %f3, %f2; st.global.f32 [%rd5], %f3;"
	for _, c := range []struct {
		name, compare string
		all           int
	}{
		{"ge and ltu", "setp.ge.f32 %p1, %f1, %f2; setp.ltu.f32 %p2, %f1, %f2;", 1},
		{"eq and neu", "setp.eq.f32 %p1, %f1, %f2; setp.neu.f32 %p2, %f1, %f2;", 1},
		{"ge and lt, both false of NaN", "setp.ge.f32 %p1, %f1, %f2; setp.lt.f32 %p2, %f1, %f2;", 2},
		{"of integers", "setp.ge.s32 %p1, %r4, %r5; setp.lt.s32 %p2, %r4, %r5;", 2},
	} {
		src := kernelOf(loads + c.compare + use)
		n := selectedOps(t, src, hopper.CC)
		if n[mir.OpFSETP]+n[mir.OpISETP] != c.all || n[mir.OpPLOP3] != 0 {
			t.Errorf("%s: %d comparisons and %d PLOP3, want %d and 0", c.name, n[mir.OpFSETP]+n[mir.OpISETP], n[mir.OpPLOP3], c.all)
		}
		must(t, src, hopper)
	}
}
