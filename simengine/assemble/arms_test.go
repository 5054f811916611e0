package assemble

import (
	"fmt"
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine/assemble/asmtest"
)

// In PTX for one architecture what follows branches waits for all of them: of eight elements with a branch each, both
// the element and what the branch made of it are kept until the products at the end. Without branches, and in PTX
// for any later architecture, each product comes as soon as it can.
func TestBranchesKeepTheirOrder(t *testing.T) {
	const elements = 8
	body := func(branch bool) string {
		var sb, end strings.Builder
		sb.WriteString(".reg .f32 %x<20>, %y<20>; .reg .pred %q<20>; ")
		for i := range elements {
			fmt.Fprintf(&sb, "ld.global.f32 %%x%d, [%%rd3+%d]; ", i, 4*i)
		}
		for i := range elements {
			fmt.Fprintf(&sb, "setp.gt.f32 %%q%[1]d, %%x%[1]d, 0f3f800000; mul.f32 %%y%[1]d, %%x%[1]d, %%x%[1]d; ", i)
			if branch {
				fmt.Fprintf(&sb, "@%%q%[1]d bra E%[1]d; ", i)
			}
			fmt.Fprintf(&sb, "fma.rn.f32 %%y%[1]d, %%y%[1]d, %%x%[1]d, 0f40000000; ", i)
			if branch {
				fmt.Fprintf(&sb, "E%d: ", i)
			}
			fmt.Fprintf(&end, "mul.f32 %%f2, %%x%[1]d, %%y%[1]d; st.global.f32 [%%rd3+%[2]d], %%f2; ", i, 4096+4*i)
		}
		return guardedText(sb.String() + end.String())
	}
	need := func(src string) int {
		p, err := Prepare(asmtest.BuildKernel(t, "k", []byte(src)), hopper)
		if err != nil {
			t.Fatal(err)
		}
		u, err := p.variant(0, 0)
		if err != nil {
			t.Fatal(err)
		}
		return u.need()
	}
	specific := func(src string) string { return strings.Replace(src, "sm_90\n", "sm_90a\n", 1) }
	kept, straight, later := need(specific(body(true))), need(specific(body(false))), need(body(true))
	if kept < 2*elements || straight > kept-elements/2 || later > kept-elements/2 {
		t.Errorf("%d registers behind branches, %d without them, %d for sm_90; want %d at least, and %d fewer", kept, straight, later, 2*elements, elements/2)
	}
}
