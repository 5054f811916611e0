package compile

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/warptune/warptune/tuner/kernel/call"
)

// Of loops within loops the innermost are unrolled in part, by nvcc 13.0 and where clang stands in for it.
func TestNestsAsNVCC(t *testing.T) {
	const nest = `
__device__ float row(const float *p, int n) { float s = 0; for (int i = 0; i < n; ++i) s += p[i]; return s; }
extern "C" __global__ void k(float *out, const float *in, int m, int n) {
  float c = 0;
  for (int i = 0; i < m; ++i) { c = c * in[i] + 1; INNER }
  out[threadIdx.x] = c;
}`
	for _, tt := range []struct {
		inner string
		outer int // how often what is in the outer loop is written out
	}{
		{"for (int j = 0; j < n; ++j) c += in[i + j];", 1},
		{"for (int j = threadIdx.x; j < 264; j += 64) c += in[i + j];", 1},
		{"_Pragma(\"unroll 1\") for (int j = 0; j < 3; ++j) c += in[i + j];", 1},
		{"int j = n; while (j > 0) { c += in[i + j]; j /= 2; }", 1},
		{"c += row(in + i, n);", 1},
		{"for (int j = 0; j < 1000; ++j) c += in[i + j];", 1},
		{"for (int j = 0; j < 3; ++j) c += in[i + j];", 5},
		{"int most = 4; for (int j = 0; j < most; ++j) c += in[i + j];", 5},
		{"", 5},
	} {
		r := request(t, "k.cu", fstest.MapFS{"k.cu": text(nest)}, call.Macro{Name: "INNER", Value: tt.inner})
		ptx := string(mustCompile(t, NewClangAsNVCC(needClang(t).limits), r).PTX)
		if got := strings.Count(ptx, "fma.rn.f32"); got != tt.outer {
			t.Errorf("%q: written out %d times, want %d:\n%s", tt.inner, got, tt.outer, ptx)
		}
	}
}
