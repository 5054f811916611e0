package slice_test

import (
	"math/rand/v2"
	"slices"
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
		checkDistinct(t, k)
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

// checkDistinct compares what Distinct says with both slices, each made by itself.
func checkDistinct(t *testing.T, k *ir.Kernel) (relies bool) {
	t.Helper()
	distinct, all := slice.WithDistinctBuffers(k), slice.Addresses(k)
	needed, relies := slice.Distinct(k)
	if !slices.Equal(needed, distinct) || relies == slices.Equal(distinct, all) {
		t.Errorf("%s: relies on distinct buffers: %v, with the same instructions: %v", k.Name, relies, slices.Equal(needed, distinct))
	}
	return relies
}

// Distinct says the same as two slices, of measured kernels and of kernels at random.
func TestDistinct(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	params := ptxtest.Header + ".visible .entry k(.param .u64 idx, .param .u64 x, .param .u64 out, .param .u64 pitch)\n{"
	relying, both := 0, 0
	for range 2000 {
		text := params + strings.Replace(gather, "OUT", []string{"out", "idx", "x"}[r.IntN(3)], 1) + "\n}\n"
		for range r.IntN(4) {
			text = ptxtest.Mutate(r, text)
		}
		k := ptxtest.Build(text)
		if k == nil {
			continue
		}
		both++
		if checkDistinct(t, k) {
			relying++
		}
	}
	if relying < 100 || both-relying < 100 {
		t.Errorf("%d of %d rely on distinct buffers: want 100 that do, and 100 that do not", relying, both)
	}
}

func TestDistinctOfMeasured(t *testing.T) {
	n := 0
	check := func(name string, src []byte) {
		if n++; n%8 != 0 {
			return
		}
		for _, k := range ptxtest.Module(t, name, string(src)).Kernels {
			checkDistinct(t, k)
		}
	}
	ptxtest.Silicon(t, "../../..", check)
	ptxtest.Hopper(t, "../../..", check)
}
