package assemble

import (
	"strings"
	"testing"
)

// A value that a loop hands on is computed in its register where what reads the old one
// can go first, and copied where that needs the new one, or where the new one is read
// elsewhere, too.
func TestOldValuesAreReadFirst(t *testing.T) {
	for name, c := range map[string]struct {
		body   string
		copies int
	}{
		"the old one between":   {"add.f32 %f3, %f1, %f2; add.f32 %f4, %f1, %f1; fma.rn.f32 %f2, %f4, %f3, %f2; mov.f32 %f1, %f3", 0},
		"what it takes between": {"add.f32 %f3, %f1, %f2; mul.f32 %f5, %f6, %f6; add.f32 %f4, %f1, %f5; fma.rn.f32 %f2, %f4, %f3, %f2; mov.f32 %f1, %f3", 0},
		"it takes the new one":  {"add.f32 %f3, %f1, %f2; mul.f32 %f4, %f1, %f3; fma.rn.f32 %f2, %f4, %f3, %f2; mov.f32 %f1, %f3", 1},
		"by another":            {"add.f32 %f3, %f1, %f2; mul.f32 %f5, %f3, %f3; add.f32 %f4, %f1, %f5; fma.rn.f32 %f2, %f4, %f3, %f2; mov.f32 %f1, %f3", 1},
		"of what changes":       {"add.f32 %f3, %f1, %f2; mul.f32 %f2, %f3, %f3; add.f32 %f4, %f1, %f2; fma.rn.f32 %f2, %f4, %f3, %f2; mov.f32 %f1, %f3", 1},
		"a load":                {"ld.global.f32 %f3, [%rd2]; add.f32 %f4, %f1, %f1; fma.rn.f32 %f2, %f4, %f3, %f2; mov.f32 %f1, %f3", 1},
		"read elsewhere":        {"add.f32 %f2, %f2, %f3; mul.f32 %f3, %f1, %f1; fma.rn.f32 %f2, %f3, %f2, %f2; mov.f32 %f1, %f3", 1},
		"changed between":       {"add.f32 %f3, %f1, %f2; add.f32 %f1, %f3, %f3; fma.rn.f32 %f2, %f1, %f3, %f2; mov.f32 %f1, %f3", 1},
	} {
		body := "mov.u32 %r6, 0; mov.f32 %f1, 0f3F800000; mov.f32 %f2, 0f40000000; cvta.to.global.u64 %rd2, %rd1; ld.global.f32 %f6, [%rd2+4]; " +
			".pragma \"nounroll\"; again: " + c.body + "; add.u32 %r6, %r6, 1; setp.lt.u32 %p1, %r6, %r1; @%p1 bra again; st.global.f32 [%rd2], %f1; st.global.f32 [%rd2+8], %f2"
		loop := listingOf(t, strings.ReplaceAll(body, "; ", ";\n")+";")
		loop, _, _ = strings.Cut(loop[strings.Index(loop, "depth 1"):], "block 2")
		if n := strings.Count(loop, "\tMOV "); n != c.copies {
			t.Errorf("%s: %d copies, want %d\n%s", name, n, c.copies, loop)
		}
	}
}
