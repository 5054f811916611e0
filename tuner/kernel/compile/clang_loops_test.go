package compile

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/warptune/warptune/tuner/kernel/compile/sandbox"
)

// A loop that goes through memory moves one address on, counts beside it and ends last, as nvcc's.
func TestLoopsAsNVCC(t *testing.T) {
	const loop = `
extern "C" __global__ void k(float *o, const float4 *__restrict__ a, float y) {
  float s = 0;
#pragma unroll 1
  for (int k = 0; k < 32; ++k) {
    float4 q = a[k];
    s += q.x * y + q.w;
    if (s > y) s = sqrtf(s * y - q.y) / (y + s);
  }
  o[threadIdx.x] = s;
}`
	r := request(t, "k.cu", fstest.MapFS{"k.cu": text(loop)})
	// plain says whether one address is moved on in the loop, after the division.
	plain := func(ptx []byte) bool {
		_, code, found := strings.Cut(string(ptx), ".pragma \"nounroll\"")
		if !found {
			t.Fatalf("no loop:\n%s", ptx)
		}
		code, _, _ = strings.Cut(code, "%tid.x")
		_, end, _ := strings.Cut(code, "div.rn")
		return strings.Count(code, "add.s64") == 1 && strings.Count(end, "add.s64") == 1
	}
	if ptx := mustCompile(t, needClang(t), r).PTX; plain(ptx) {
		t.Errorf("clang's loop is plain: nothing is to be told:\n%s", ptx)
	}
	if ptx := mustCompile(t, NewClangAsNVCC(sandbox.DefaultLimits()), r).PTX; !plain(ptx) {
		t.Errorf("no plain loop:\n%s", ptx)
	}
}
