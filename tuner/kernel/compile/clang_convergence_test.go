package compile

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/warptune/warptune/tuner/kernel/compile/asnvcc"
	"github.com/warptune/warptune/tuner/kernel/compile/sandbox"
)

// needTokens skips a test where clang does not unroll by tokens.
func needTokens(t *testing.T) {
	t.Helper()
	f, err := needClang(t).find(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if f.major < asnvcc.TokensSince {
		t.Skipf("%s has no tokens of convergence", f.version)
	}
}

// Loops of a number of iterations that is not known are written out as often as by nvcc 13.0
// (deploy/calibrate/results/partloops-nvcc-13.0.jsonl.gz, by the same names), whatever is in them.
func TestPartlyUnrolledAsNVCC(t *testing.T) {
	needTokens(t)
	for _, tt := range []struct {
		kind, head, tail string
		body, want       int
	}{
		{"sum", "for (int i = 0; i < m; ++i)", "c += t;", 20, 5},
		{"sum", "for (int i = 0; i < m; ++i)", "c += t;", 32, 3},
		{"sum", "for (int i = 0; i < m; ++i)", "c += t;", 48, 1},
		{"step_256", "for (int i = threadIdx.x; i < m; i += 256)", "c += t;", 4, 5},
		{"step_argument", "for (int i = threadIdx.x; i < m; i += step)", "c += t;", 4, 5},
		{"step_block", "for (int i = threadIdx.x; i < m; i += blockDim.x)", "c += t;", 4, 1},
		{"known_1009", "for (int i = 0; i < 1009; ++i)", "c += t;", 4, 4},
		{"pragma_4", "_Pragma(\"unroll 4\") for (int i = 0; i < m; ++i)", "c += t;", 96, 5},
		{"barrier", "for (int i = 0; i < m; ++i)", "w[threadIdx.x] = t; __syncthreads(); c += w[i]; __syncthreads();", 4, 5},
		{"shuffle", "for (int i = 0; i < m; ++i)", "c += __shfl_xor_sync(~0u, t, 1);", 4, 5},
		{"ballot", "for (int i = 0; i < m; ++i)", "c += __popc(__ballot_sync(~0u, t > y));", 4, 5},
		{"assembly", "for (int i = 0; i < m; ++i)", `float u; asm("ex2.approx.f32 %0, %1;" : "=f"(u) : "f"(t)); c += u;`, 4, 5},
		{"exit", "for (int i = 0; i < m; ++i)", "c += t; if (t < 0) break;", 4, 1},
	} {
		source := fmt.Sprintf(`extern "C" __global__ void k(float *out, const float *in, int m, int step, float y, float s) {
  __shared__ float w[1024];
  w[threadIdx.x] = in[threadIdx.x]; __syncthreads();
  float c = 0;
  %s { float t = in[i]; %s %s }
  out[threadIdx.x] = c + w[threadIdx.x ^ 1];
}`, tt.head, strings.Repeat("t = t * y + s; ", tt.body), tt.tail)
		r := request(t, "k.cu", fstest.MapFS{"k.cu": text(source)})
		res := mustCompile(t, NewClangAsNVCC(sandbox.DefaultLimits()), r)
		if got := strings.Count(string(res.PTX), "fma.rn.f32"); got != tt.body*tt.want {
			t.Errorf("%s, %d multiply-adds: %d in PTX, want %d times as many:\n%s", tt.kind, tt.body, got, tt.want, res.PTX)
		}
	}
}

// A barrier stays one for all threads, whatever is known of a condition before it and after it.
func TestBarriersStayTogether(t *testing.T) {
	const guarded = `
extern "C" __global__ void k(float *out, const float *in, int n) {
  __shared__ float w[64];
  float c = 0;
  if (threadIdx.x < n) w[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  if (threadIdx.x < n) c = w[threadIdx.x ^ 1];
  c += __shfl_xor_sync(~0u, c, 1);
  if (threadIdx.x < n) out[threadIdx.x] = c;
}`
	ptx := string(mustCompile(t, NewClangAsNVCC(needClang(t).limits), request(t, "k.cu", fstest.MapFS{"k.cu": text(guarded)})).PTX)
	if strings.Count(ptx, "bar.sync") != 1 || strings.Count(ptx, "shfl.sync") != 1 {
		t.Errorf("want one barrier and one shuffle:\n%s", ptx)
	}
}

// A call after a barrier is not split in two with it, so that all threads of a warp come to one barrier.
func TestBarriersStayWhole(t *testing.T) {
	const source = `
extern "C" __global__ void k(int *out) {
  __shared__ int m;
  int i = threadIdx.x;
  if (i == 0) m = -1;
  __syncthreads();
  atomicMax(&m, i);
  __syncthreads();
  out[i] = m;
}`
	r := request(t, "k.cu", fstest.MapFS{"k.cu": text(source)})
	if ptx := string(mustCompile(t, NewClangAsNVCC(needClang(t).limits), r).PTX); strings.Count(ptx, "bar.sync") != 2 {
		t.Errorf("not two barriers:\n%s", ptx)
	}
}
