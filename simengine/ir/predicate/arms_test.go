package predicate

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine/exec"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/ptxtest"
)

// body is a random kernel of nested branches around arithmetic, loads and stores, which stores all
// its registers in the end.
func body(rng *rand.Rand) string {
	var b strings.Builder
	labels := 0
	reg := func() string { return fmt.Sprintf("%%r%d", 1+rng.IntN(5)) }
	var some func(depth int)
	some = func(depth int) {
		for range 1 + rng.IntN(4) {
			switch n := rng.IntN(9); {
			case n < 2 && depth > 0:
				labels++
				end := fmt.Sprintf("L%d", labels)
				fmt.Fprintf(&b, "setp.lt.s32 %%p%d, %s, %s;\n@%s%%p%d bra %s;\n", depth, reg(), reg(), [...]string{"", "!"}[rng.IntN(2)], depth, end)
				some(depth - 1)
				fmt.Fprintf(&b, "%s:\n", end)
			case n < 3:
				fmt.Fprintf(&b, "ld.global.u32 %s, [%%rd1+%d];\n", reg(), 4*rng.IntN(8))
			case n < 4:
				fmt.Fprintf(&b, "setp.gt.s32 %%p%d, %s, %d;\nselp.b32 %s, %s, 7, %%p%d;\n", 1+depth, reg(), rng.IntN(9), reg(), reg(), 1+depth)
			case n < 6:
				fmt.Fprintf(&b, "mad.lo.s32 %s, %s, 3, %s;\n", reg(), reg(), reg())
			case n < 7:
				fmt.Fprintf(&b, "mov.u32 %s, %%tid.x;\n", reg())
			default:
				fmt.Fprintf(&b, "xor.b32 %s, %s, %s;\n", reg(), reg(), reg())
			}
		}
	}
	some(3)
	return ".reg .pred %p<6>; .reg .b32 %r<7>; .reg .b64 %rd<4>;\nld.param.u64 %rd1, [out]; mov.u32 %r6, %tid.x; mul.wide.u32 %rd2, %r6, 20; add.s64 %rd2, %rd2, %rd1;\n" +
		"mov.u32 %r1, %tid.x; mov.u32 %r2, 5; mov.u32 %r3, 9; mov.u32 %r4, 0; mov.u32 %r5, 3;\n" + b.String() +
		"st.global.u32 [%rd2+64], %r1; st.global.u32 [%rd2+68], %r2; st.global.u32 [%rd2+72], %r3; st.global.u32 [%rd2+76], %r4; st.global.u32 [%rd2+80], %r5;\nret;"
}

// run executes a kernel by one warp, with a buffer of 1 KiB, and returns the buffer.
func run(t *testing.T, k *ir.Kernel) []byte {
	t.Helper()
	p, err := exec.Compile(k, exec.Full)
	if err != nil {
		t.Fatal(err)
	}
	mem := exec.NewMemory(0)
	if _, err := mem.Alloc(exec.Buffer{Name: "out", Elem: ir.U32, Count: 256, Fill: exec.Random(1, 1000)}); err != nil {
		t.Fatal(err)
	}
	params, err := mem.BindParams(k, []exec.Arg{{Buffer: "out"}})
	if err != nil {
		t.Fatal(err)
	}
	l := exec.Launch{Grid: exec.Dim3{X: 1, Y: 1, Z: 1}, CTA: exec.Dim3{X: 32, Y: 1, Z: 1}, Params: params}
	if err := exec.NewRunner(p).Run(l, mem, 0, exec.Options{}, nil); err != nil {
		t.Fatalf("%v\n%s", err, k)
	}
	out, err := mem.ReadBuffer("out")
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Predicated arms compute the same.
func TestArmsComputeTheSame(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	changed := 0
	for range 200 {
		k := ptxtest.Kernel(t, ".param .u64 out", body(rng))
		a := all(k)
		if err := ir.Verify(a); err != nil {
			t.Fatalf("%v\n%s", err, a)
		}
		if a != k {
			changed++
		}
		if !bytes.Equal(run(t, k), run(t, a)) {
			t.Fatalf("%s\nis not\n%s", k, a)
		}
	}
	if changed < 20 {
		t.Errorf("only %d kernels have an arm", changed)
	}
}

// What a product of matrices goes into, past a test for infinity, is not in the slice; kernels without
// asynchronous instructions stay as they are.
func TestArmsFreeTheSlice(t *testing.T) {
	const text = `.reg .pred %%p; .reg .b32 %%r<3>; .reg .f32 %%f<5>; .reg .b64 %%rd<4>;
	ld.param.u64 %%rd1, [out];
	%s
	setp.lt.u32 %%p, %%r1, 2139095040;
	@%%p bra END;
	mov.f32 %%f4, 0f7F800000;
	fma.rn.f32 %%f1, %%f1, %%f4, %%f4;
END:
	st.global.f32 [%%rd1], %%f1;
	ret;`
	k := ptxtest.Kernel(t, ".param .u64 out", fmt.Sprintf(text, `wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd2, %rd3, 1, 1, 1, 0, 0;
	mov.b32 %r1, %f1;`))
	for name, c := range map[string]struct {
		k    *ir.Kernel
		need bool
	}{"before": {k, true}, "after": {Arms(k), false}} {
		need := ir.SliceAddress(c.k)
		for pc := range c.k.Instrs {
			if c.k.Instrs[pc].Op == ir.Wgmma && need[pc] != c.need {
				t.Errorf("%s: the product is in the slice: %v\n%s", name, need[pc], c.k)
			}
		}
	}
	if k := ptxtest.Kernel(t, ".param .u64 out", fmt.Sprintf(text, "ld.global.f32 %f1, [%rd1]; mov.b32 %r1, %f1;")); Arms(k) != k {
		t.Error("a kernel without asynchronous instructions is rewritten")
	}
}
