package slice_test

import (
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/ir/slice"
	"github.com/warptune/warptune/simengine/ptxtest"
)

// gather reads an index, then what it names, and stores the sum through OUT.
const gather = `
	.reg .b32 %r<4>;
	.reg .b64 %rd<12>;
	.reg .f32 %f<4>;
	ld.param.u64 %rd1, [idx];
	ld.param.u64 %rd2, [x];
	ld.param.u64 %rd3, [OUT];
	ld.param.u64 %rd4, [pitch];
	cvta.to.global.u64 %rd5, %rd1;
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %rd6, %r1, 4;
	add.s64 %rd7, %rd5, %rd6;
	ld.global.u32 %r2, [%rd7];
	cvt.u64.u32 %rd8, %r2;
	mad.lo.s64 %rd9, %rd8, %rd4, %rd2;
	ld.global.f32 %f1, [%rd9];
	add.f32 %f2, %f1, %f1;
	add.s64 %rd10, %rd3, %rd6;
	st.global.f32 [%rd10], %f2;
	ret;`

// A store to another buffer than the index array does not matter to the
// addresses, a store to the array itself does.
func TestWithDistinctBuffers(t *testing.T) {
	for _, c := range []struct {
		out               string
		address, distinct bool
	}{{"out", true, false}, {"idx", true, true}, {"x", true, false}} {
		k := ptxtest.Kernel(t, ".param .u64 idx, .param .u64 x, .param .u64 out, .param .u64 pitch", strings.Replace(gather, "OUT", c.out, 1))
		for name, s := range map[string]struct {
			needed []bool
			want   bool
		}{"Addresses": {slice.Addresses(k), c.address}, "WithDistinctBuffers": {slice.WithDistinctBuffers(k), c.distinct}} {
			for pc := range k.Instrs {
				if op := k.Instrs[pc].Op; (op == ir.St || k.Instrs[pc].Type == ir.F32 && op == ir.Add) && s.needed[pc] != s.want {
					t.Errorf("store to %s: %s has %s %v, want %v", c.out, name, k.Text(pc), s.needed[pc], s.want)
				}
			}
		}
	}
}
