package assemble

import (
	"fmt"
	"strings"
	"testing"
)

// tiles is a loop that loads the next tile under a condition, computes, and stores the tile where the condition held.
func tiles(loads, products int, between string) string {
	var b strings.Builder
	b.WriteString(".reg .f32 %g<32>;\ncvta.to.global.u64 %rd2, %rd1;\nmov.u32 %r6, 0;\nmov.f32 %g1, 0f3F800000;\nmov.f32 %g2, 0f40000000;\nmov.f32 %g3, %g1;\n")
	for i := range loads {
		fmt.Fprintf(&b, "mov.f32 %%g%d, 0f00000000;\n", 10+i)
	}
	b.WriteString(".pragma \"nounroll\";\nagain:\nadd.u32 %r6, %r6, 1;\nsetp.ge.u32 %p2, %r6, %r1;\n@%p2 bra skip;\n")
	for i := range loads {
		fmt.Fprintf(&b, "mad.lo.u32 %%r7, %%r6, %d, %d;\nmul.wide.u32 %%rd3, %%r7, 4;\nadd.s64 %%rd4, %%rd2, %%rd3;\nld.global.nc.f32 %%g%d, [%%rd4];\n", 77+i, i, 10+i)
	}
	b.WriteString("skip:\n")
	for i := range products {
		fmt.Fprintf(&b, "fma.rn.f32 %%g%d, %%g%d, %%g1, %%g2;\n", 2+i%2, 2+(i+1)%2)
		if i == products/2 {
			b.WriteString(between)
		}
	}
	b.WriteString("bar.sync 0;\n@%p2 bra over;\n")
	for i := range loads {
		fmt.Fprintf(&b, "st.global.f32 [%%rd2+%d], %%g%d;\n", 64+4*i, 10+i)
	}
	b.WriteString("over:\nsetp.lt.u32 %p1, %r6, %r1;\n@%p1 bra again;\nst.global.f32 [%rd2], %g2;\nst.global.f32 [%rd2+8], %g3;\n")
	return b.String()
}

// Loads that are too many to predicate go behind a longer computation that does not need them, to the barrier or to
// what orders memory before it. A few are predicated and stay ahead, and so do those that a short computation
// follows.
func TestLoadsOfTheNextTileSink(t *testing.T) {
	for name, c := range map[string]struct {
		loads, products int
		between         string
		ahead, behind   int // products before the first load, at most, and at least
	}{
		"many":                    {8, 200, "", 200, 200},
		"few":                     {2, 200, "", 20, 0},
		"a short computation":     {8, 10, "", 0, 0},
		"a store between":         {8, 200, "st.global.f32 [%rd2+128], %g2;\n", 110, 90},
		"they are needed between": {8, 200, "add.f32 %g1, %g1, %g12;\n", 110, 90},
	} {
		loop := listingOf(t, tiles(c.loads, c.products, c.between))
		loop = loop[strings.Index(loop, "depth 1"):]
		at := strings.Count(loop[:strings.Index(loop, "LDG")], "FFMA")
		if at > c.ahead || at < c.behind {
			t.Errorf("%s: %d products before the first load, want %d to %d\n%s", name, at, c.behind, c.ahead, loop)
		}
	}
}
