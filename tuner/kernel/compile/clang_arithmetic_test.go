package compile

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/warptune/warptune/tuner/kernel/compile/sandbox"
)

// Products and sums are fused where nvcc's are, whose PTX this is, too.
func TestFusionAsNVCC(t *testing.T) {
	const sums = `
extern "C" __global__ void k(float *o, float x, float y) {
  int i = threadIdx.x;
  o[i] = y - 2.f * x;
  o[i + 64] = 2.f * x + y;
  o[i + 320] = 4.f * x + y;
  o[i + 384] = x * y - o[i];
}`
	r := request(t, "k.cu", fstest.MapFS{"k.cu": text(sums)})
	for _, tt := range []struct {
		driver Driver
		want   map[string]int
	}{
		{needClang(t), map[string]int{"add.f32": 0, "sub.f32": 0, "mul.f32": 0, "fma.rn.f32": 4}},
		{NewClangAsNVCC(sandbox.DefaultLimits()), map[string]int{"add.f32": 2, "sub.f32": 2, "mul.f32": 1, "fma.rn.f32": 1}},
	} {
		res := mustCompile(t, tt.driver, r)
		for op, n := range tt.want {
			if got := strings.Count(string(res.PTX), "\t"+op+" "); got != n {
				t.Errorf("%s: %d of %s, want %d:\n%s", res.Compiler, got, op, n, res.PTX)
			}
		}
	}
}

// Without contraction nothing is fused, by whatever rules.
func TestNoFusionAsNVCC(t *testing.T) {
	const sum = `extern "C" __global__ void k(float *o, float x, float y) { o[threadIdx.x] = 4.f * x + y; }`
	r := request(t, "k.cu", fstest.MapFS{"k.cu": text(sum)})
	r.Options = []string{"--fmad=false"}
	if ptx := string(mustCompile(t, NewClangAsNVCC(sandbox.DefaultLimits()), r).PTX); strings.Contains(ptx, "fma.") || !strings.Contains(ptx, "add.rn.f32") {
		t.Errorf("fused:\n%s", ptx)
	}
}

// Bytes of a word are shifted and masked, as by nvcc.
func TestExtractionsAsNVCC(t *testing.T) {
	const bytes = `
extern "C" __global__ void k(unsigned *o, const unsigned *a) {
  unsigned x = a[threadIdx.x];
  o[threadIdx.x] = max(x >> 8 & 255, x >> 16 & 255);
}`
	r := request(t, "k.cu", fstest.MapFS{"k.cu": text(bytes)})
	if ptx := string(mustCompile(t, needClang(t), r).PTX); !strings.Contains(ptx, "bfe.u32") {
		t.Errorf("clang extracts nothing: nothing is to be told:\n%s", ptx)
	}
	if ptx := string(mustCompile(t, NewClangAsNVCC(sandbox.DefaultLimits()), r).PTX); strings.Contains(ptx, "bfe.") || strings.Count(ptx, "shr.u32") != 2 || strings.Count(ptx, "and.b32") != 2 {
		t.Errorf("not by two shifts and two masks:\n%s", ptx)
	}
}
