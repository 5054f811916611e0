package assemble

import (
	"testing"

	"github.com/warptune/warptune/simengine/assemble/mir"
)

// Sums that differ by a constant cost one, whatever the order of their parts, as long as
// what they begin with stays.
func TestSharedSums(t *testing.T) {
	load := func(address string) string { return "ld.global.f32 %f2, [" + address + "]; add.f32 %f1, %f1, %f2;" }
	for _, c := range []struct {
		name, body string
		sums       int // of two words
	}{
		{"moved on by 512", "add.s64 %rd6, %rd3, %rd4;" + load("%rd6") + "add.s64 %rd7, %rd3, 512; add.s64 %rd8, %rd7, %rd4;" + load("%rd8"), 1},
		{"twice, parts exchanged", "add.s64 %rd6, %rd3, %rd4;" + load("%rd6") + "add.s64 %rd7, %rd4, 512; add.s64 %rd8, %rd7, -1024; add.s64 %rd5, %rd8, %rd3;" + load("%rd5"), 1},
		{"too far for an offset", "add.s64 %rd6, %rd3, %rd4;" + load("%rd6") + "add.s64 %rd7, %rd3, 8589934592; add.s64 %rd8, %rd7, %rd4;" + load("%rd8"), 3},
		{"of what has changed", "add.s64 %rd6, %rd3, %rd4;" + load("%rd6") + "mul.wide.u32 %rd5, %r2, 64; add.s64 %rd3, %rd3, %rd5; add.s64 %rd8, %rd3, %rd4;" + load("%rd8"), 2},
		{"moved on from what has changed", "add.s64 %rd7, %rd3, 512; mul.wide.u32 %rd5, %r2, 64; add.s64 %rd3, %rd3, %rd5; add.s64 %rd6, %rd3, %rd4;" + load("%rd6") + "add.s64 %rd8, %rd7, %rd4;" + load("%rd8"), 3},
	} {
		loopHas(t, c.name, loopText("cvt.u64.u32 %rd4, %r2;", c.body), map[mir.Op]int{mir.OpIADD3X: c.sums})
	}
}
