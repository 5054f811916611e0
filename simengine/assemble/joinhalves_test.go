package assemble

import (
	"fmt"
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine/ir"
)

// TestHalvesJoin: four loads of halves from a row are one of eight bytes where readers
// take halves in place, and none of them costs a move; readers of integers, and shifts of
// bfloats, keep the loads apart; four stores of halves are one behind two moves.
func TestHalvesJoin(t *testing.T) {
	read := func(each string) string {
		var b strings.Builder
		b.WriteString("ld.global.b32 %r9, [%rd2];\nld.global.f32 %f9, [%rd2+4];\nld.global.u16 %h8, [%rd2+8];\n")
		for i := range 4 {
			fmt.Fprintf(&b, "ld.shared.u16 %%h%d, [%%r3+%d];\n", i, 2*i)
		}
		for i := range 4 {
			b.WriteString(strings.ReplaceAll(each, "#", fmt.Sprint(i)) + "\n")
		}
		return b.String() + "st.global.b32 [%rd2], %r9;\nst.global.f32 [%rd2+4], %f9;\nst.global.u16 [%rd2+8], %h8;\n"
	}
	pairs := read("mov.b32 %q#, {%h#,%h#};\nfma.rn.f16x2 %r9, %q#, %r9, %r9;")
	for _, c := range []struct {
		name, body   string
		count, moves int // accesses of shared memory, PRMT
	}{
		{"pairs of one half", pairs, 1, 0},
		{"halves", read("fma.rn.f16 %h8, %h8, %h8, %h#;"), 1, 0},
		{"bfloats", read("fma.rn.bf16 %h8, %h8, %h8, %h#;"), 1, 0},
		{"numbers of single precision", read("cvt.f32.f16 %f1, %h#;\nfma.rn.f32 %f9, %f9, %f1, %f9;"), 1, 0},
		{"bfloats made numbers of single precision", read("cvt.f32.bf16 %f1, %h#;\nfma.rn.f32 %f9, %f9, %f1, %f9;"), 4, 0},
		{"integers", read("cvt.u32.u16 %r8, %h#;\nmad.lo.u32 %r9, %r9, 7, %r8;"), 4, 0},
		{"one of them an integer", pairs + "cvt.u32.u16 %r8, %h0;\nst.global.b32 [%rd2+12], %r8;\n", 3, 0},
		{"stores", "ld.global.v4.u16 {%h0,%h1,%h2,%h3}, [%rd2];\nst.shared.u16 [%r3], %h0;\nst.shared.u16 [%r3+2], %h1;\nst.shared.u16 [%r3+4], %h2;\nst.shared.u16 [%r3+6], %h3;\n", 1, 2},
	} {
		src := header + `.visible .entry row(.param .u64 a)
{
.reg .b16 %h<9>;
.reg .f32 %f<10>;
.reg .b32 %r<10>;
.reg .b32 %q<4>;
.reg .b64 %rd<4>;
.shared .align 16 .b8 s[8192];
ld.param.u64 %rd1, [a];
cvta.to.global.u64 %rd2, %rd1;
mov.u32 %r1, %tid.x;
mov.u32 %r2, s;
mad.lo.s32 %r3, %r1, 32, %r2;
` + c.body + "ret;\n}\n"
		bytes, count := 0, 0
		for _, b := range must(t, src, hopper).Blocks {
			for _, in := range b.Instrs {
				if in.Space == ir.Shared && (in.Class == Load || in.Class == Store) {
					bytes, count = bytes+int(in.Width), count+1
				}
			}
		}
		moves := selectedOps(t, src, hopper.CC)[opPRMT]
		if bytes != 8 || count != c.count || moves != c.moves {
			t.Errorf("%s: %d accesses of %d bytes together and %d moves, want %d of 8 and %d", c.name, count, bytes, moves, c.count, c.moves)
		}
	}
}
