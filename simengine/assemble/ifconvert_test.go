package assemble

import (
	"fmt"
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine/assemble/asmtest"
	"github.com/warptune/warptune/simengine/assemble/mir"
)

// guardedText is a kernel of a thread index %r2, a bound %r1, a global address
// %rd3 and a shared array, around a body.
func guardedText(body string) string {
	return `.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 a, .param .u32 n) {
.reg .pred %p<5>; .reg .b32 %r<9>; .reg .f32 %f<9>; .reg .b64 %rd<9>;
.shared .align 4 .b8 s[1024];
ld.param.u64 %rd1, [a];
ld.param.u32 %r1, [n];
mov.u32 %r2, %tid.x;
mul.wide.u32 %rd2, %r2, 4;
add.s64 %rd3, %rd1, %rd2;
mov.u64 %rd4, s;
add.s64 %rd5, %rd4, %rd2;
mov.f32 %f1, 0f00000000;
setp.ge.s32 %p1, %r2, %r1;
` + strings.ReplaceAll(body, "; ", ";\n") + "\nst.global.f32 [%rd3+8192], %f1;\nret;\n}\n"
}

// TestBranchesLikeTheRealAssembler checks which short arms are predicated: each
// case is a shape that machine code for sm_90 shows.
func TestBranchesLikeTheRealAssembler(t *testing.T) {
	long := "add.f32 %f1, %f1, %f1; mul.f32 %f1, %f1, %f2; add.f32 %f1, %f1, %f1; mul.f32 %f1, %f1, %f2; add.f32 %f1, %f1, %f1; mul.f32 %f1, %f1, %f2; add.f32 %f1, %f1, %f1; "
	for _, c := range []struct {
		name, body string
		branches   int
	}{
		{"a load and its use are predicated",
			"@%p1 bra L1; ld.global.f32 %f1, [%rd3]; L1:", 0},
		{"so is an arm that an unconditional branch leads to",
			"@!%p1 bra L1; bra.uni L0; L0:\nld.global.f32 %f1, [%rd3]; L1:", 0},
		{"an atomic is branched around",
			"@%p1 bra L1; red.global.add.u32 [%rd3], 1; L1:", 1},
		{"so is an arm whose load waits for a barrier",
			"st.shared.f32 [%rd5], %f1; bar.sync 0; @%p1 bra L1; ld.shared.f32 %f1, [%rd5+4]; L1:", 0},
		{"and a longer one",
			"st.shared.f32 [%rd5], %f1; bar.sync 0; @%p1 bra L1; ld.global.nc.f32 %f2, [%rd3+4]; " + long + "L1:", 0},
		{"two conditions are one where what they lead to is short",
			"@%p1 bra L1; setp.eq.s32 %p2, %r2, 7; @%p2 bra L1; ld.global.nc.f32 %f2, [%rd3]; add.f32 %f1, %f2, %f2; L1:", 0},
		{"so are those of which the second takes products",
			"@%p1 bra L1; fma.rn.f32 %f3, %f1, %f1, %f1; setp.gt.f32 %p2, %f3, %f1; @%p2 bra L1; add.f32 %f1, %f3, %f3; L1:", 0},
		{"and two where it is long",
			"@%p1 bra L1; setp.eq.s32 %p2, %r2, 7; @%p2 bra L1; ld.global.nc.f32 %f2, [%rd3]; " + long + long + long + "L1:", 2},
		{"two conditions of an else are one",
			"@%p1 bra L1; setp.ne.s32 %p2, %r2, 7; @%p2 bra L2; L1:\nld.global.nc.f32 %f1, [%rd3]; bra.uni L3; L2:\nld.global.nc.f32 %f2, [%rd3+4]; add.f32 %f1, %f2, %f2; L3:", 0},
		{"a loop that branches out and jumps back has one branch",
			"mov.u32 %r3, 0; L1:\nld.global.f32 %f2, [%rd3]; add.f32 %f1, %f1, %f2; add.s32 %r3, %r3, 1; setp.eq.s32 %p2, %r3, %r1; @%p2 bra L2; bra.uni L1; L2:", 1},
	} {
		if got := branchesOf(must(t, guardedText(c.body), hopper)); got != c.branches {
			t.Errorf("%s: %d branches, want %d", c.name, got, c.branches)
		}
	}
}

// branchesOf counts the branches of a program that its PTX has.
func branchesOf(p *Program) (n int) {
	for _, b := range p.Blocks {
		for _, in := range b.Instrs {
			if in.Class == mir.Branch && in.Source >= 0 {
				n++
			}
		}
	}
	return n
}

// In PTX for one architecture an arm of one or two results is predicated up to eight instructions, its jump counted; a
// longer one is where it has more results.
func TestArmsOfFewResultsAreShort(t *testing.T) {
	arm := func(n, results int) string {
		var b strings.Builder
		for i := range n {
			x := 1 + i%results
			fmt.Fprintf(&b, "fma.rn.f32 %%f%d, %%f%d, %%f%d, %%f4; ", x, x, x)
		}
		return b.String()
	}
	for _, c := range []struct {
		name, body string
		branches   int
	}{
		{"eight instructions", "@%p1 bra L1; " + arm(8, 1) + "L1:", 0},
		{"nine", "@%p1 bra L1; " + arm(9, 1) + "L1:", 1},
		{"nine of two results", "@%p1 bra L1; " + arm(9, 2) + "L1:", 1},
		{"nine of three results", "@%p1 bra L1; " + arm(9, 3) + "L1:", 0},
		{"seven with a jump", "@%p1 bra L1; " + arm(7, 1) + "bra L2; L1:\n" + arm(8, 1) + "L2:", 0},
		{"eight with a jump", "@%p1 bra L1; " + arm(8, 1) + "bra L2; L1:\n" + arm(8, 1) + "L2:", 2},
	} {
		before := "ld.global.f32 %f2, [%rd3]; ld.global.f32 %f3, [%rd3+4]; ld.global.f32 %f4, [%rd3+8]; "
		after := "\nadd.f32 %f1, %f1, %f2; add.f32 %f1, %f1, %f3;"
		src := strings.Replace(guardedText(before+c.body+after), "sm_90", "sm_90a", 1)
		if got := branchesOf(must(t, src, hopper)); got != c.branches {
			t.Errorf("%s: %d branches, want %d", c.name, got, c.branches)
		}
	}
}

// The first block is reached from outside, too. A loop back to the first instruction, over one block or several, by
// a branch or past a condition, leaves it where it is (found by TestMutantsAssemble, seed 78, round 4613, of
// h200-tensor-cores).
func TestLoopsToTheFirstInstruction(t *testing.T) {
	begin := asmtest.Header + ".visible .entry k(.param .u64 a)\n{\n.reg .pred %p<4>;\n.reg .b32 %r<6>;\n.reg .b64 %rd<4>;\n" +
		"L: ld.param.u64 %rd1, [a]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2; ld.volatile.global.u32 %r2, [%rd3]; setp.eq.u32 %p1, %r2, 7; "
	for name, rest := range map[string]string{
		"a block between":   "@%p1 bra out; add.u32 %r3, %r2, 1; st.volatile.global.u32 [%rd3], %r3; bra L; out: st.global.u32 [%rd3+4], %r2; ret;\n}\n",
		"two ways back":     "@%p1 bra other; st.volatile.global.u32 [%rd3], 1; bra L; other: setp.gt.u32 %p2, %r1, 3; @%p2 bra L; ret;\n}\n",
		"past a condition":  "bra next; next: setp.gt.u32 %p2, %r1, 3; @%p2 bra L; st.global.u32 [%rd3+4], %r2; ret;\n}\n",
		"no way out at all": "st.volatile.global.u32 [%rd3], 1; bra more; more: bar.sync 0; bra L;\n}\n",
	} {
		n := selectedOps(t, begin+rest, hopper.CC)
		if n[mir.OpLDG] != 1 || n[mir.OpS2R] != 1 {
			t.Errorf("%s: %d loads and %d reads of the thread index, want one of each", name, n[mir.OpLDG], n[mir.OpS2R])
		}
		must(t, begin+rest, hopper)
	}
}
