package compile

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/warptune/warptune/tuner/kernel/call"
)

// Of loops of a known number of iterations as many go together as with nvcc 13.0 (the loops of
// deploy/calibrate/ptxas/partloops.py by the same names, results/partloops-nvcc-13.0.jsonl.gz).
func TestKnownLoopsAsNVCC(t *testing.T) {
	const source = `
extern "C" __global__ void k(float *out, const float *in, int m, int step, float y, float s) {
  __shared__ float w[1024];
  w[threadIdx.x] = in[threadIdx.x]; __syncthreads();
  float c = 0;
  LOOP
  out[threadIdx.x] = c + w[threadIdx.x ^ 1];
}`
	each := func(n int) string {
		return fmt.Sprintf("for (int i = 0; i < %d; ++i) { float t = in[i]; BODY c += t; }", n)
	}
	for _, tt := range []struct {
		name, loop string
		body, want int
	}{
		{"known_1000", each(1000), 1, 8},
		{"known_1000", each(1000), 10, 8},
		{"known_1000", each(1000), 12, 4},
		{"known_1000", each(1000), 24, 2},
		{"known_1000", each(1000), 48, 1},
		{"known_1008", each(1008), 1, 16},
		{"known_1008", each(1008), 4, 8},
		{"known_102", each(102), 4, 2},
		{"known_104", each(104), 4, 8},
		{"known_105", each(105), 4, 4},
		{"known_24", each(24), 4, 24},
		{"known_24", each(24), 8, 8},
		{"step2_1000", "for (int i = 0; i < 2000; i += 2) { float t = in[i]; BODY c += t; }", 8, 8},
		{"down_1000", "for (int i = 1000; i > 0; --i) { float t = in[i]; BODY c += t; }", 8, 8},
		{"exit_1000", "for (int i = 0; i < 1000; ++i) { float t = in[i]; BODY c += t; if (t < 0) break; }", 4, 1},
		{"store_1000", "for (int i = 0; i < 1000; ++i) { float t = in[i]; BODY out[i * step] = t; }", 10, 4},
		{"arm_1000", "for (int i = 0; i < 1000; ++i) { float t = in[i]; BODY if (t > y) out[i * step] = t; }", 4, 8},
		{"pragma_4", "_Pragma(\"unroll 4\") " + each(1000), 1, 4},
	} {
		r := request(t, "k.cu", fstest.MapFS{"k.cu": text(source)},
			call.Macro{Name: "LOOP", Value: tt.loop}, call.Macro{Name: "BODY", Value: strings.Repeat("t = t * y + s; ", tt.body)})
		ptx := string(mustCompile(t, NewClangAsNVCC(needClang(t).limits), r).PTX)
		if got := strings.Count(ptx, "fma.rn.f32"); got != tt.want*tt.body {
			t.Errorf("%s, %d products: %d of them written out, want %d", tt.name, tt.body, got, tt.want*tt.body)
		}
	}
}
