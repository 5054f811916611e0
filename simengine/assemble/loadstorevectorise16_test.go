package assemble

import (
	"fmt"
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/ir"
)

// TestHalvesJoin: four loads of halves from a row are one of eight bytes where readers take halves in place, and
// none of them costs a move. Readers of integers, and shifts of bfloats, keep the loads apart. Four stores of
// halves are one behind two moves.
func TestHalvesJoin(t *testing.T) {
	read := func(each string) string {
		var b strings.Builder
		b.WriteString("ld.global.b32 %r9, [%rd5];\nld.global.f32 %f9, [%rd5+4];\nld.global.u16 %h8, [%rd5+8];\n")
		for i := range 4 {
			fmt.Fprintf(&b, "ld.shared.u16 %%h%d, [%%r11+%d];\n", i, 2*i)
		}
		for i := range 4 {
			b.WriteString(strings.ReplaceAll(each, "#", fmt.Sprint(i)) + "\n")
		}
		return b.String() + "st.global.b32 [%rd5], %r9;\nst.global.f32 [%rd5+4], %f9;\nst.global.u16 [%rd5+8], %h8;\n"
	}
	pairs := read("mov.b32 %r2#, {%h#,%h#};\nfma.rn.f16x2 %r9, %r2#, %r9, %r9;")
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
		{"one of them an integer", pairs + "cvt.u32.u16 %r8, %h0;\nst.global.b32 [%rd5+12], %r8;\n", 3, 0},
		{"stores", "ld.global.v4.u16 {%h0,%h1,%h2,%h3}, [%rd5];\nst.shared.u16 [%r11], %h0;\nst.shared.u16 [%r11+2], %h1;\nst.shared.u16 [%r11+4], %h2;\nst.shared.u16 [%r11+6], %h3;\n", 1, 2},
	} {
		src := kernelOf("mov.u32 %r10, s;\nmad.lo.s32 %r11, %r1, 32, %r10;\n" + c.body)
		bytes, count := 0, 0
		for _, b := range must(t, src, hopper).Blocks {
			for _, in := range b.Instrs {
				if in.Space == ir.Shared && (in.Class == mir.Load || in.Class == mir.Store) {
					bytes, count = bytes+int(in.Width), count+1
				}
			}
		}
		moves := selectedOps(t, src, hopper.CC)[mir.OpPRMT]
		if bytes != 8 || count != c.count || moves != c.moves {
			t.Errorf("%s: %d accesses of %d bytes together and %d moves, want %d of 8 and %d", c.name, count, bytes, moves, c.count, c.moves)
		}
	}
}
