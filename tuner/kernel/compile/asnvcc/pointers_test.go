package asnvcc

import "testing"

// What a loop holds is counted of the innermost loops: what it reads before it is computed there.
func TestMostHeld(t *testing.T) {
	for _, tt := range []struct {
		name, ptx string
		want      int
	}{
		{"no loop", "\tadd.s64 \t%rd3, %rd1, %rd2;\n\tret;\n", 0},
		{"stepped, and one that stays", "$L__BB0_1:\n\tld.global.f32 \t%f1, [%rd1];\n\tadd.s64 \t%rd1, %rd1, %rd2;\n\t@%p1 bra \t$L__BB0_1;\n", 2},
		{"computed in it", "$L__BB0_1:\n\tmul.wide.s32 \t%rd3, %r1, 4;\n\tadd.s64 \t%rd4, %rd1, %rd3;\n\tst.global.f32 \t[%rd4], %f1;\n\t@%p1 bra \t$L__BB0_1;\n", 1},
		{"forwards", "\t@%p1 bra \t$L__BB0_1;\n\tadd.s64 \t%rd3, %rd1, %rd2;\n$L__BB0_1:\n\tret;\n", 0},
		{"the inner one", "$L__BB0_1:\n\tadd.s64 \t%rd3, %rd1, %rd2;\n$L__BB0_2:\n\tld.global.f32 \t%f1, [%rd3];\n\t@%p1 bra \t$L__BB0_2;\n\tst.global.f32 \t[%rd5], %f1;\n\t@%p2 bra \t$L__BB0_1;\n", 1},
	} {
		if got := MostHeld([]byte(tt.ptx)); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
}
