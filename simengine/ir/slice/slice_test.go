package slice_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/warptune/warptune/deploy/calibrate/results"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/ir/slice"
	"github.com/warptune/warptune/simengine/ptxtest"
)

// marked lists the instructions of the slice, one a line.
func marked(k *ir.Kernel) string {
	var b strings.Builder
	for pc, need := range slice.Addresses(k) {
		if need {
			b.WriteString(k.Text(pc) + "\n")
		}
	}
	return b.String()
}

// A tile goes through shared memory: its values do not matter, the addresses,
// the loop and the barrier do.
func TestSliceLeavesDataOut(t *testing.T) {
	k := ptxtest.Kernel(t, ".param .u64 in", `
	.reg .b32 %r<4>;
	.reg .b64 %rd<4>;
	.reg .f32 %f<4>;
	.reg .pred %p<2>;
	.shared .f32 tile[32];
	ld.param.u64 %rd1, [in];
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %rd2, %r1, 4;
	add.s64 %rd3, %rd1, %rd2;
	mov.f32 %f2, 0f00000000;
	mov.u32 %r2, 0;
LOOP:
	ld.global.f32 %f1, [%rd3];
	st.shared.f32 [tile], %f1;
	bar.sync 0;
	ld.shared.f32 %f3, [tile];
	fma.rn.f32 %f2, %f3, %f1, %f2;
	add.s32 %r2, %r2, 1;
	setp.lt.s32 %p1, %r2, 8;
	@%p1 bra LOOP;
	st.global.f32 [%rd3], %f2;
	ret;`)
	ptxtest.Golden(t, marked(k), `
ld.param.u64 %rd1, [in];
mov.u32 %r1, %tid.x;
mul.wide.u32 %rd2, %r1, 4;
add.s64 %rd3, %rd1, %rd2;
mov.u32 %r2, 0;
bar.sync 0;
add.s32 %r2, %r2, 1;
setp.lt.s32 %p1, %r2, 8;
@%p1 bra b1;
exit;
`)
}

// An index that comes from memory needs the load; one that comes from shared
// memory the stores there as well, and what they store.
func TestSliceFollowsMemory(t *testing.T) {
	k := ptxtest.Kernel(t, ".param .u64 in", `
	.reg .b32 %r<4>;
	.reg .b64 %rd<5>;
	.reg .f32 %f<3>;
	.shared .b32 index[32];
	.shared .f32 sums[32];
	ld.param.u64 %rd1, [in];
	ld.global.nc.u32 %r1, [%rd1];
	st.shared.u32 [index], %r1;
	ld.global.f32 %f1, [%rd1+8];
	st.local.f32 [0], %f1;
	ld.shared.u32 %r2, [index];
	mul.wide.u32 %rd2, %r2, 4;
	ld.global.f32 %f2, [%rd2];
	st.global.f32 [%rd1], %f2;
	ret;`)
	ptxtest.Golden(t, marked(k), `
ld.param.u64 %rd1, [in];
ld.global.nc.u32 %r1, [%rd1];
st.shared.u32 [index], %r1;
ld.shared.u32 %r2, [index];
mul.wide.u32 %rd2, %r2, 4;
exit;
`)
}

// The slice is closed: whatever a marked instruction, an address or a guard of
// a memory instruction reads is written by marked instructions only.
func TestSliceClosed(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	check := func(k *ir.Kernel) { checkClosed(t, k) }
	rng := rand.New(rand.NewPCG(seed, 4))
	for range 50 {
		check(ptxtest.Kernel(t, "", ptxtest.RandomBody(rng, 8)))
	}
	for _, name := range []string{"../lower/testdata/clang-O0.ptx.gz", "../lower/testdata/clang-O3.ptx.gz"} {
		src, err := results.Content(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range ptxtest.Module(t, name, string(src)).Kernels {
			check(k)
		}
	}
	// A tiled product spends its instructions on data: few are left.
	small := 0
	ptxtest.Silicon(t, "../../..", func(stem string, src []byte) {
		if small++; small%25 != 0 {
			return
		}
		k, err := ptxtest.Module(t, stem, string(src)).Kernel("")
		if err != nil {
			t.Fatal(err)
		}
		check(k)
		n := 0
		for pc, need := range slice.Addresses(k) {
			if need {
				n++
				if op := k.Instrs[pc].Op; op == ir.Fma {
					t.Errorf("%s: %s is needed for an address", stem, k.Text(pc))
				}
			}
		}
		if n == 0 || n == len(k.Instrs) {
			t.Errorf("%s: %d of %d instructions", stem, n, len(k.Instrs))
		}
	})
}

func checkClosed(t *testing.T, k *ir.Kernel) {
	t.Helper()
	need := slice.Addresses(k)
	writers := make([][]int, len(k.Regs))
	for pc := range k.Instrs {
		for _, r := range k.Instrs[pc].AppendDefs(nil) {
			writers[r] = append(writers[r], pc)
		}
	}
	wants := func(pc int, r ir.Reg) {
		if r == ir.NoReg {
			return
		}
		for _, w := range writers[r] {
			if !need[w] {
				t.Fatalf("%s: %s needs %s", k.Name, k.Text(pc), k.Text(w))
			}
		}
	}
	for pc := range k.Instrs {
		in := &k.Instrs[pc]
		if need[pc] {
			for _, r := range in.AppendUses(nil) {
				wants(pc, r)
			}
		}
		for i := range in.Src {
			if in.Src[i].Kind == ir.OperandAddr || in.Bulk != nil && in.Src[i].Kind == ir.OperandReg {
				wants(pc, in.Src[i].Reg)
				wants(pc, in.Guard)
			}
		}
		if in.EndsBlock() && !need[pc] && !(hasMMAs(k) && in.Op == ir.Bra && in.Guard != ir.NoReg) { // see detour.go
			t.Fatalf("%s: %s is not needed", k.Name, k.Text(pc))
		}
	}
}

func hasMMAs(k *ir.Kernel) bool {
	return slices.ContainsFunc(k.Instrs, func(in ir.Instr) bool { return in.Op == ir.Mma || in.Op == ir.Wgmma })
}
