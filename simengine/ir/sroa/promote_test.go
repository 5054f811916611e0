package sroa_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine/ir/sroa"

	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/ir/irtest"
	"github.com/warptune/warptune/simengine/ptxtest"
)

// walked is the body of a kernel that adds to words of an array by a pointer that walks
// through it, so many at a time, in a loop in a loop; more stands in the inner one.
func walked(words, step, align int, more string) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".local .align %d .b8 depot[%d];\n.reg .pred %%p<4>; .reg .b32 %%r<8>; .reg .f32 %%f<16>; .reg .f64 %%d<4>; .reg .b64 %%rd<12>;\n", align, 4*words)
	b.WriteString("ld.param.u64 %rd1, [x]; ld.param.u32 %r9, [n]; mov.u64 %rd2, depot; mov.f32 %f1, 0f00000000; ld.global.f32 %f2, [%rd1]; ld.global.f64 %d1, [%rd1+8];\n")
	for w := range words {
		fmt.Fprintf(&b, "st.local.f32 [%%rd2+%d], %%f1;\n", 4*w)
	}
	vector, regs := "", "%f4"
	switch step {
	case 2:
		vector, regs = ".v2", "{%f4, %f5}"
	case 4:
		vector, regs = ".v4", "{%f4, %f5, %f6, %f7}"
	}
	fmt.Fprintf(&b, `mov.u32 %%r1, 0;
OUTER: mov.u64 %%rd3, %%rd2; mov.u32 %%r2, 0;
INNER: .pragma "nounroll";
%s
ld.local%s.f32 %s, [%%rd3];
fma.rn.f32 %%f4, %%f2, %%f2, %%f4;
st.local%s.f32 [%%rd3], %s;
add.s64 %%rd3, %%rd3, %d; add.s32 %%r2, %%r2, %d; setp.ne.s32 %%p1, %%r2, %d; @%%p1 bra INNER;
add.s32 %%r1, %%r1, 1; setp.lt.s32 %%p2, %%r1, %%r9; @%%p2 bra OUTER;
`, more, vector, regs, vector, regs, 4*step, step, words)
	for w := range words {
		fmt.Fprintf(&b, "ld.local.f32 %%f3, [%%rd2+%d]; st.global.f32 [%%rd1+%d], %%f3;\n", 4*w, 4*w)
	}
	return strings.Replace(b.String(), "%r<8>", "%r<12>", 1) + "ret;"
}

// How many places an array may have to be held, of those whose machine code was looked at, and
// what makes the others stay.
func TestPromote(t *testing.T) {
	const long = "fma.rn.f32 %f2, %f2, %f2, %f2;\n"
	five, ten := strings.Repeat(long, 5), strings.Repeat(long, 10)
	once := func(old, with string) func(string) string {
		return func(s string) string { return strings.Replace(s, old, with, 1) }
	}
	for _, c := range []struct {
		name               string
		words, step, align int
		more               string
		change             func(string) string
		held               bool
	}{
		{"3 places", 3, 1, 16, "", nil, true},
		{"6 places", 6, 1, 16, "", nil, false},
		{"6 places and more code", 6, 1, 16, five, nil, true},
		{"10 places", 10, 1, 16, five, nil, false},
		{"6 places of two words", 12, 2, 16, five, nil, true},
		{"6 places of four words", 24, 4, 16, five, nil, true},
		{"12 for all that is known of where the array is", 12, 2, 4, five, nil, false},
		{"not filled", 3, 1, 16, ten, once("st.local.f32 [%rd2+4], %f1;", ""), false},
		{"a word of 64 bits", 3, 1, 8, ten, once("ld.local.f32 %f3, [%rd2+0];", "ld.local.f64 %d1, [%rd2];"), false},
		{"a byte", 3, 1, 16, ten, once("ld.local.f32 %f3, [%rd2+0];", "ld.local.u8 %r3, [%rd2];"), false},
		{"volatile", 3, 1, 16, ten, once("ld.local.f32 %f3, [%rd2+0];", "ld.volatile.local.f32 %f3, [%rd2];"), false},
		{"its address stored", 3, 1, 16, ten, once("ret;", "st.global.u64 [%rd1], %rd3; ret;"), false},
		{"its address compared", 3, 1, 16, ten, once("ret;", "setp.eq.u64 %p3, %rd3, 4; @%p3 bra OUTER; ret;"), false},
		{"stepped on a condition", 3, 1, 16, ten, once("add.s64 %rd3, %rd3, 4;", "@%p2 add.s64 %rd3, %rd3, 4;"), false},
		{"its address nobody needs", 3, 1, 16, ten, once("ret;", "cvta.local.u64 %rd4, %rd2; ret;"), true},
		{"88 words", 88, 1, 16, strings.Repeat(long, 200), nil, true},
		{"96 words", 96, 1, 16, strings.Repeat(long, 200), nil, false},
		{"32 words and a division", 32, 1, 16, strings.Repeat(long, 100) + "div.rn.f32 %f2, %f2, %f2;", nil, true},
		{"33 words and a division", 33, 1, 16, strings.Repeat(long, 100) + "div.rn.f32 %f2, %f2, %f2;", nil, false},
	} {
		body := walked(c.words, c.step, c.align, c.more)
		if c.change != nil {
			changed := c.change(body)
			if changed == body {
				t.Errorf("%s: nothing changed", c.name)
			}
			body = changed
		}
		k := ptxtest.Kernel(t, ".param .u64 x, .param .u32 n", body)
		h := sroa.Promote(k)
		if (h != k) != c.held {
			t.Errorf("%s: held %v", c.name, h != k)
		}
		if err := irtest.Verify(h); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// An access becomes a comparison and a move a place; the comparisons of a load serve the store.
func TestPromotedInstructions(t *testing.T) {
	for _, c := range []struct{ places, compares, moves int }{
		{3, 3, 6},
		{7, 7, 14},
		{8, 2*8 - 5, 16},
		{12, 2*12 - 5, 24},
	} {
		long := strings.Repeat("fma.rn.f32 %f2, %f2, %f2, %f2;\n", 30)
		h := sroa.Promote(ptxtest.Kernel(t, ".param .u64 x, .param .u32 n", walked(c.places, 1, 16, long)))
		var compares, moves int
		for pc := range h.Instrs {
			switch in := &h.Instrs[pc]; {
			case in.Op == ir.Setp && in.Cmp == ir.CmpEQ:
				compares++
			case in.Op == ir.Mov && h.Blocks[h.BlockOf(pc)].LoopDepth == 2:
				moves++
			}
		}
		if h.LocalBytes != 0 || compares != c.compares || moves != c.moves {
			t.Errorf("%d places: %d comparisons and %d moves, want %d and %d, %d bytes of local memory", c.places, compares, moves, c.compares, c.moves, h.LocalBytes)
		}
	}
}
