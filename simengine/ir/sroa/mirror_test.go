package sroa_test

import (
	"slices"
	"testing"

	"github.com/warptune/warptune/simengine/ir/sroa"

	"github.com/warptune/warptune/simengine/ptxtest"
)

// Places of local memory that are loaded and stored as a whole only, and whose address
// goes nowhere else, have registers; those that are not keep all of their variable out, or
// what they lie over.
func TestMirror(t *testing.T) {
	const before = `
	.local .align 8 .b8 w[16];
	.local .align 8 .b8 v[16];
	.reg .b16 %rs<2>;
	.reg .b32 %r<8>;
	.reg .b64 %rd<8>;
	mov.u32 %r1, %tid.x;
	mov.u64 %rd1, w;
	st.local.u32 [v+8], %r1;
	st.local.u32 [%rd1+4], %r1;
`
	for _, c := range []struct {
		name, body string
		want       []string
	}{
		{"as they are", "", []string{"v+8", "w+4"}},
		{"loaded through a copy", "add.s64 %rd2, %rd1, 4;\nld.local.u32 %r2, [%rd2];", []string{"v+8", "w+4"}},
		{"another word", "st.local.u64 [w+8], %rd1;", []string{"v+8"}},
		{"two sizes", "ld.local.u64 %rd2, [w];", []string{"v+8"}},
		{"a part", "ld.local.u8 %rs1, [w+5];", []string{"v+8"}},
		{"two words", "ld.local.v2.u32 {%r2, %r3}, [w];", []string{"v+8"}},
		{"at an index", "mul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\nld.local.u32 %r2, [%rd3];", []string{"v+8"}},
		{"set in two places", "mov.u64 %rd2, w;\nmov.u64 %rd2, v;\nld.local.u32 %r2, [%rd2];", nil},
		{"generic", "cvta.local.u64 %rd2, %rd1;\nld.param.u64 %rd3, [out];\nst.global.u64 [%rd3], %rd2;", []string{"v+8"}},
		{"at an address of no variable", "ld.local.u32 %r2, [4];", nil},
	} {
		k := ptxtest.Kernel(t, ".param .u64 out", before+c.body+"\nret;")
		private := sroa.Mirror(k)
		var got []string
		for _, r := range private.Regs[len(k.Regs):] {
			got = append(got, r.Name)
		}
		slices.Sort(got)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: registers for %q, want %q", c.name, got, c.want)
		}
		if (private == k) != (len(c.want) == 0) {
			t.Errorf("%s: another kernel %v", c.name, private != k)
		}
	}
}
