package unroll_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine/ir/unroll"

	"github.com/warptune/warptune/simengine/ir/irtest"
	"github.com/warptune/warptune/simengine/ptxtest"
)

// strided sums every 32nd element, in a loop that the real assembler unrolls.
const strided = `
	.reg .pred %p<3>;
	.reg .b32 %r<9>;
	.reg .b64 %rd<9>;
	.reg .f32 %f<4>;
	ld.param.u64 %rd1, [x];
	ld.param.u32 %r1, [n];
	mov.u32 %r2, %tid.x;
	mul.wide.u32 %rd2, %r2, 4;
	add.s64 %rd3, %rd1, %rd2;
	mov.f32 %f1, 0f00000000;
LOOP:
	ld.global.f32 %f2, [%rd3+16];
	add.f32 %f1, %f1, %f2;
	add.s64 %rd3, %rd3, 128;
	add.s32 %r2, %r2, 32;
	setp.lt.s32 %p1, %r2, %r1;
	@%p1 bra LOOP;
	st.global.f32 [%rd1], %f1;
	ret;`

func TestUnrolledText(t *testing.T) {
	u := unroll.Loops(ptxtest.Kernel(t, ".param .u64 x, .param .u32 n", strided))
	if err := irtest.Verify(u); err != nil {
		t.Error(err)
	}
	ptxtest.Golden(t, u.String(), `
kernel k
b0: -> b1 b3 ipdom b3
	ld.param.u64 %rd1, [x];
	ld.param.u32 %r1, [n];
	mov.u32 %r2, %tid.x;
	mul.wide.u32 %rd2, %r2, 4;
	add.s64 %rd3, %rd1, %rd2;
	mov.f32 %f1, 0f00000000;
	setp.eq.u32 %p1$0, 0, 0;
	sub.s32 %r2$2, %r1, %r2;
	setp.gt.s32 %p1$1, %r2$2, 96;
	@!%p1$1 bra b3;
b1: -> b2 ipdom b2
	setp.ne.u32 %p1$0, 0, 0;
	add.s32 %r2$3, %r1, -96;
b2: -> b3 b2 ipdom b3 loop b2 depth 1
	ld.global.f32 %f2$4, [%rd3+16];
	add.f32 %f1$5, %f1, %f2$4;
	ld.global.f32 %f2$6, [%rd3+144];
	add.f32 %f1$7, %f1$5, %f2$6;
	ld.global.f32 %f2$8, [%rd3+272];
	add.f32 %f1$9, %f1$7, %f2$8;
	ld.global.f32 %f2$10, [%rd3+400];
	add.f32 %f1, %f1$9, %f2$10;
	add.s64 %rd3, %rd3, 512;
	add.s32 %r2, %r2, 128;
	setp.lt.s32 %p1$1, %r2, %r2$3;
	@%p1$1 bra b2;
b3: -> b4 b5 ipdom b5
	sub.s32 %r2$11, %r1, %r2;
	setp.gt.s32 %p1$1, %r2$11, 32;
	@!%p1$1 bra b5;
b4: -> b5 ipdom b5
	setp.ne.u32 %p1$0, 0, 0;
	ld.global.f32 %f2$12, [%rd3+16];
	add.f32 %f1$13, %f1, %f2$12;
	ld.global.f32 %f2$14, [%rd3+144];
	add.f32 %f1, %f1$13, %f2$14;
	add.s64 %rd3, %rd3, 256;
	add.s32 %r2, %r2, 64;
b5: -> b6 b7 ipdom b7
	setp.lt.or.s32 %p1$0, %r2, %r1, %p1$0;
	@!%p1$0 bra b7;
b6: -> b7 ipdom b7
	ld.global.f32 %f2$15, [%rd3+16];
	add.f32 %f1, %f1, %f2$15;
b7:
	st.global.f32 [%rd1], %f1;
	exit;
`)
}

// A loop that counts down until it meets a constant goes on one by one once it has
// passed it.
func TestCountdownText(t *testing.T) {
	body := strings.NewReplacer("add.s32 %r2, %r2, 32", "add.s32 %r2, %r2, -4", "setp.lt.s32 %p1, %r2, %r1", "setp.ne.s32 %p1, %r2, -1").Replace(strided)
	u := unroll.Loops(ptxtest.Kernel(t, ".param .u64 x, .param .u32 n", body))
	if err := irtest.Verify(u); err != nil {
		t.Error(err)
	}
	text := u.String()
	for _, line := range []string{
		"setp.gt.s32 %p1$1, %r2, -1;\n\t@!%p1$1 bra b7;", "setp.gt.s32 %p1$1, %r2, 11;\n\t@!%p1$1 bra b4;",
		"add.s32 %r2, %r2, -16;\n\tsetp.gt.s32 %p1$1, %r2, 11;\n\t@%p1$1 bra b3;", "setp.gt.s32 %p1$1, %r2, 3;\n\t@!%p1$1 bra b6;",
		"setp.ne.or.s32 %p1$0, %r2, -1, %p1$0;\n\t@!%p1$0 bra b8;", "add.s32 %r2, %r2, -4;\n\tsetp.ne.s32 %p1$1, %r2, -1;\n\t@%p1$1 bra b7;",
	} {
		if !strings.Contains(text, line) {
			t.Errorf("no %q in\n%s", line, text)
		}
	}
	if n := strings.Count(text, "ld.global.f32"); n != 7 {
		t.Errorf("%d copies, want four, two and one", n)
	}
}

// A loop whose number of iterations is known is written out, without a branch, and with a
// second exit with a branch behind each iteration but the last.
func TestUnrolledWhole(t *testing.T) {
	const sum = "add.f32 %f1, %f1, %f2;"
	known := strings.NewReplacer("mov.u32 %r2, %tid.x;", "mov.u32 %r2, 5;", "setp.lt.s32 %p1, %r2, %r1;", "setp.ne.s32 %p1, %r2, 165;").Replace(strided)
	long := strings.NewReplacer("mov.u32 %r2, 5;", "mov.b64 %rd4, -32;", "add.s32 %r2, %r2, 32;", "add.s64 %rd4, %rd4, 32;", "setp.ne.s32 %p1, %r2, 165;", "setp.lt.u64 %p1, %rd4, 128;").Replace(known)
	masked := strings.NewReplacer("LOOP:", "LOOP:\n\tmov.pred %p0, -1;", "ld.global", "@%p0 ld.global").Replace(known)
	for _, c := range []struct {
		name             string
		body             string
		copies, branches int
	}{
		{"known", known, 5, 0},
		{"of 64 bits", long, 5, 0},
		{"of 64 bits, not known", strings.Replace(long, "mov.b64 %rd4, -32;", "mov.b64 %rd4, %rd2;", 1), 1, 1},
		{"under a mask that is true", masked, 5, 0},
		{"under one that is not", strings.Replace(masked, "mov.pred %p0, -1;", "setp.ne.s32 %p0, %r2, 37;", 1), 1, 1},
		{"two exits", strings.Replace(known, "@%p1 bra LOOP;", "setp.gt.f32 %p2, %f1, %f2;\n\tand.pred %p2, %p2, %p1;\n\t@%p2 bra LOOP;", 1), 1, 1},
		{"two exits, each once", strings.Replace(known, "@%p1 bra LOOP;", "setp.gt.f32 %p0, %f1, %f2;\n\tand.pred %p2, %p0, %p1;\n\t@%p2 bra LOOP;", 1), 5, 4},
		{"two exits, one of them not", strings.Replace(known, "@%p1 bra LOOP;", "setp.gt.f32 %p0, %f1, %f2;\n\tand.pred %p2, !%p0, %p1;\n\t@%p2 bra LOOP;", 1), 1, 1},
		{"longer than is unrolled", strings.Replace(known, sum, strings.Repeat(sum+"\n", 80), 1), 80, 1},
		{"as long as is unrolled", strings.Replace(known, sum, strings.Repeat(sum+"\n", 64), 1), 320, 0},
		{"never met", strings.Replace(known, "165", "166", 1), 1, 1},
		{"gone on with", strings.NewReplacer("LOOP:", "AGAIN:\n\tadd.s32 %r3, %r3, 1;\nLOOP:", "@%p1 bra LOOP;", "@%p1 bra LOOP;\n\t@%p0 bra AGAIN;").Replace(known), 1, 2},
		{"begun elsewhere", strings.Replace(known, "mov.u32 %r2, 5;", "mov.u32 %r2, 5;\n\t@%p0 mov.u32 %r2, 37;", 1), 1, 1},
	} {
		u := unroll.Loops(ptxtest.Kernel(t, ".param .u64 x, .param .u32 n", c.body))
		if err := irtest.Verify(u); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		text := u.String()
		if copies, branches := strings.Count(text, "add.f32"), strings.Count(text, " bra "); copies != c.copies || branches != c.branches {
			t.Errorf("%s: %d sums and %d branches, want %d and %d\n%s", c.name, copies, branches, c.copies, c.branches, text)
		}
	}
}

// However many loops there are that would be written out, a kernel stays of a size.
func TestUnrolledWholeEnds(t *testing.T) {
	var body strings.Builder
	body.WriteString(".reg .b32 %r<3>;\n.reg .pred %p<2>;\nmov.u32 %r1, 0;\n")
	for i := range 64 {
		fmt.Fprintf(&body, "mov.u32 %%r2, 0;\nL%d:\nxor.b32 %%r1, %%r1, %%r2;\nadd.s32 %%r2, %%r2, 1;\nsetp.lt.s32 %%p1, %%r2, 3000;\n@%%p1 bra L%d;\n", i, i)
	}
	body.WriteString(".reg .b64 %rd1;\nld.param.u64 %rd1, [x];\nst.global.u32 [%rd1], %r1;\nret;")
	u := unroll.Loops(ptxtest.Kernel(t, ".param .u64 x", body.String()))
	if err := irtest.Verify(u); err != nil {
		t.Error(err)
	}
	if n := len(u.Instrs); n < 20_000 || n > 70_000 {
		t.Errorf("%d instructions of 64 loops of 3000 iterations", n)
	}
}

// Nor does it grow by what weighs nothing where loops are unrolled in part.
func TestUnrolledPartEnds(t *testing.T) {
	known := strings.NewReplacer("mov.u32 %r2, %tid.x;", "mov.u32 %r2, 0;", "setp.lt.s32 %p1, %r2, %r1;", "setp.lt.s32 %p1, %r2, 32000;").Replace(strided)
	for sums, kept := range map[int]bool{3: false, 4000: true} {
		k := ptxtest.Kernel(t, ".param .u64 x, .param .u32 n", strings.Replace(known, "add.f32", strings.Repeat("add.s64 %rd3, %rd3, %rd2;\n", sums)+"add.f32", 1))
		u := unroll.Loops(k)
		if n := len(u.Instrs); (u == k) != kept || n > 70_000 {
			t.Errorf("%d sums that weigh nothing: %d instructions of %d", sums, n, len(k.Instrs))
		}
	}
}

// What the machine code shows to stay as it is.
func TestLoopsKept(t *testing.T) {
	for name, change := range map[string][2]string{
		"pragma":                    {"LOOP:", "LOOP:\n.pragma \"nounroll\";"},
		"inequality, counting up":   {"setp.lt.s32", "setp.ne.s32"},
		"inequality with less":      {"add.s32 %r2, %r2, 32;\n\tsetp.lt.s32 %p1, %r2, %r1;", "add.s32 %r2, %r2, -4;\n\tsetp.ne.s32 %p1, %r2, -32;"},
		"test before the increment": {"add.s32 %r2, %r2, 32;\n\tsetp.lt.s32 %p1, %r2, %r1;", "setp.lt.s32 %p1, %r2, %r1;\n\tadd.s32 %r2, %r2, 32;"},
		"bound that changes":        {"ld.global.f32 %f2", "add.s32 %r1, %r1, 1;\n\tld.global.f32 %f2"},
		"step that is not constant": {"add.s32 %r2, %r2, 32;", "add.s32 %r2, %r2, %r1;"},
		"wrong way":                 {"add.s32 %r2, %r2, 32;", "add.s32 %r2, %r2, -32;"},
		"warps that meet":           {"add.f32", "bar.warp.sync -1;\n\tadd.f32"},
		"slow path":                 {"add.f32 %f1, %f1, %f2;", "div.rn.f32 %f1, %f1, %f2;"},
		"atomic":                    {"add.f32 %f1, %f1, %f2;", "atom.global.add.f32 %f1, [%rd3], %f2;"},
		"quotients":                 {"add.f32", strings.Repeat("div.s32 %r3, %r1, %r2;\n", 3) + "add.f32"},
		"accesses of global memory": {"add.f32", strings.Repeat("ld.global.f32 %f3, [%rd3];\n", 24) + "add.f32"},
		"several blocks":            {"add.f32", "@%p2 bra ON;\n\tadd.f32 %f1, %f1, 0f3f800000;\nON:\n\tadd.f32"},
		"too long":                  {"add.f32 %f1, %f1, %f2;", strings.Repeat("add.f32 %f1, %f1, %f2;\n", 70)},
	} {
		body := strings.Replace(strided, change[0], change[1], 1)
		if k := ptxtest.Kernel(t, ".param .u64 x, .param .u32 n", body); unroll.Loops(k) != k {
			t.Errorf("%s: unrolled\n%s", name, unroll.Loops(k))
		}
	}
}

// Neither barriers nor loads from shared memory keep a loop as it is, which may weigh the more for them.
func TestLoopsUnrolled(t *testing.T) {
	for name, change := range map[string]string{
		"barrier":       "bar.sync 0;\n",
		"shared memory": strings.Repeat("ld.shared.f32 %f3, [s];\n", 40),
	} {
		body := ".shared .align 4 .b8 s[64];\n" + strings.Replace(strided, "add.f32", change+"add.f32", 1)
		if k := ptxtest.Kernel(t, ".param .u64 x, .param .u32 n", body); unroll.Loops(k) == k {
			t.Errorf("%s: not unrolled", name)
		}
	}
}
