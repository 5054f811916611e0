package assemble

import (
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine/assemble/mir"
)

// The upper half of a product of 64 bits is seven instructions.
func TestUpperHalfOfAProduct(t *testing.T) {
	product := "mul.wide.u32 %rd6, %r2, %r3; mul.lo.s64 %rd7, %rd6, %rd6; mul.hi.u64 %rd8, %rd7, %rd6; "
	sum := "cvt.rn.f32.u64 %f2, %rd8; add.f32 %f1, %f1, %f2;"
	without := inLoop(t, loopText("", strings.Replace(product, "mul.hi.u64 %rd8, %rd7, %rd6;", "xor.b64 %rd8, %rd7, %rd6;", 1)+sum))
	n := inLoop(t, loopText("", product+sum))
	all := func(n map[mir.Op]int) (k int) {
		for _, c := range n {
			k += c
		}
		return k
	}
	if n[mir.OpIMADWIDE]-without[mir.OpIMADWIDE] != 4 || all(n)-all(without) != 5 { // seven for two
		t.Errorf("%d wide products more and %d instructions, want 4 and 5", n[mir.OpIMADWIDE]-without[mir.OpIMADWIDE], all(n)-all(without))
	}
	must(t, loopText("", product+sum), hopper)
}

// Masks and shifts that do nothing but choose words of 64 bits cost nothing where words are read, and moves
// where a pair is.
func TestWordsThatOnlyMove(t *testing.T) {
	for _, c := range []struct {
		name, body string
		want       map[mir.Op]int
	}{
		{"upper and lower word of a product", "mul.wide.u32 %rd6, %r2, %r3; shr.u64 %rd7, %rd6, 32; and.b64 %rd8, %rd6, 4294967295; cvt.u32.u64 %r5, %rd7; cvt.u32.u64 %r6, %rd8; xor.b32 %r7, %r5, %r6; cvt.rn.f32.u32 %f2, %r7; add.f32 %f1, %f1, %f2;",
			map[mir.Op]int{mir.OpSHF: 0, mir.OpLOP3: 1}},
		{"added to it", "mul.wide.u32 %rd6, %r2, %r3; shr.u64 %rd7, %rd6, 32; and.b64 %rd8, %rd6, 4294967295; add.s64 %rd5, %rd7, %rd8; cvt.rn.f32.u64 %f2, %rd5; add.f32 %f1, %f1, %f2;",
			map[mir.Op]int{mir.OpSHF: 0, mir.OpLOP3: 0}},
		{"shifts by other counts", "mul.wide.u32 %rd6, %r2, %r3; shr.u64 %rd7, %rd6, 31; cvt.u32.u64 %r5, %rd7; cvt.rn.f32.u32 %f2, %r5; add.f32 %f1, %f1, %f2;",
			map[mir.Op]int{mir.OpSHF: 1}},
	} {
		loopHas(t, c.name, loopText("", c.body), c.want)
	}
}
