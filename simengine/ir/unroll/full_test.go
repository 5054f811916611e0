package unroll

import (
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/ir/lower"

	"github.com/warptune/warptune/deploy/calibrate/results/measured"
	"github.com/warptune/warptune/simengine/ptx"
)

// TestMostIterations holds the table against what ptxas did: with loops of multiply-adds
// exactly, and with others but for a tenth of the weight, one at least, and a fortieth
// of the iterations, which is how close it was looked.
func TestMostIterations(t *testing.T) {
	bodies := map[string]string{
		"fma": "", "ld.global": "ld.global.f32 %f2, [%rd1];", "ld.shared": "ld.shared.f32 %f2, [%r1];", "st.global": "st.global.f32 [%rd1], %f2;",
		"ex2.ftz": "ex2.approx.ftz.f32 %f2, %f2;", "ex2": "ex2.approx.f32 %f2, %f2;", "rcp.ftz": "rcp.approx.ftz.f32 %f2, %f2;",
		"selp": "setp.gt.f32 %p1, %f1, %f2; selp.f32 %f2, %f1, %f2, %p1;", "mad": "", "logic": "add.s32 %r1, %r1, 1; add.s32 %r1, %r1, 1;",
		"induction": "add.s32 %r1, %r1, 1; add.s32 %r1, %r1, 1;",
	}
	records := measured.Records[struct {
		Ends, Body         string
		Times, Whole, Kept int
	}](t, "../../../deploy/calibrate/results/unroll-ptxas-13.0.jsonl.gz")
	for _, r := range records {
		weight := r.Times * weigh(t, bodies[r.Body]+" fma.rn.f32 %f1, %f1, %f2, %f1;")
		switch {
		case r.Ends != "one":
			weight += 2 // the other predicate, and what joins it or branches
		case r.Body == "ld.global":
			weight++ // the address
		}
		off, slack := 0, 0
		if r.Body != "fma" {
			off, slack = max(weight/10, 1), r.Whole/40
		}
		whole, kept := r.Whole == 0, false
		for w := max(weight-off, 1); w <= weight+off; w++ {
			whole, kept = whole || fitsWhole(w, r.Whole-slack), kept || !fitsWhole(w, r.Kept)
		}
		if !whole || !kept {
			t.Errorf("%d times %s, exits %s, weight %d: whole %d, kept %d", r.Times, r.Body, r.Ends, weight, r.Whole, r.Kept)
		}
	}
	if n := len(records); n < 100 {
		t.Errorf("%d loops, want all", n)
	}
}

// weigh is the weight of a body.
func weigh(t *testing.T, body string) (sum int) {
	t.Helper()
	m, err := ptx.Parse("body.ptx", []byte(`.version 8.0
.target sm_90
.address_size 64
.visible .entry k()
{
.reg .pred %p<2>; .reg .b32 %r<2>; .reg .f32 %f<3>; .reg .b64 %rd<2>;
`+strings.TrimSpace(body)+"\nret;\n}\n"))
	if err != nil {
		t.Fatal(err)
	}
	mod, err := lower.Build(m)
	if err != nil {
		t.Fatal(err)
	}
	for i := range mod.Kernels[0].Instrs {
		if in := &mod.Kernels[0].Instrs[i]; in.Op != ir.Exit {
			sum += weight(in)
		}
	}
	return sum
}
