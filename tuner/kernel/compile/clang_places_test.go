package compile

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/warptune/warptune/tuner/kernel/call"
	"github.com/warptune/warptune/tuner/kernel/compile/sandbox"
)

// What is divided may be negative if it is computed from threadIdx, as to nvcc.
func TestPlacesAsNVCC(t *testing.T) {
	const divided = `extern "C" __global__ void k(int *o) { int i = threadIdx.x, j = blockIdx.y, m = blockDim.z; o[i / 32] = j / 32; o[i] = m / 32; }`
	r := request(t, "k.cu", fstest.MapFS{"k.cu": text(divided)})
	ptx := string(mustCompile(t, NewClangAsNVCC(sandbox.DefaultLimits()), r).PTX)
	if got := strings.Count(ptx, ", 31;"); got != 3 {
		t.Errorf("%d signs are asked for, want 3:\n%s", got, ptx)
	}
}

// A loop from threadIdx on is unrolled, as by nvcc, also by a step that is an argument; one whose step may
// overflow is not, as its number of iterations is not known.
func TestStridedLoopsAsNVCC(t *testing.T) {
	const strided = `
extern "C" __global__ void k(float *o, const float *__restrict__ a, int n) {
  float s = 0;
  for (int e = threadIdx.x; e < 1024; e += STEP) s += a[e];
  o[threadIdx.x] = s;
}`
	for _, tt := range []struct {
		step     string
		unrolled bool
	}{{"128", true}, {"n", true}, {"gridDim.x * 128", false}} {
		r := request(t, "k.cu", fstest.MapFS{"k.cu": text(strided)}, call.Macro{Name: "STEP", Value: tt.step})
		ptx := string(mustCompile(t, NewClangAsNVCC(sandbox.DefaultLimits()), r).PTX)
		if got := strings.Count(ptx, "ld.global"); got > 4 != tt.unrolled {
			t.Errorf("step %s: %d loads:\n%s", tt.step, got, ptx)
		}
	}
}
