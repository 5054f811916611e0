package compile

import (
	"bytes"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/warptune/warptune/tuner/kernel/call"
	"github.com/warptune/warptune/tuner/kernel/compile/sandbox"
)

// A private array of which every index is known once loops are unrolled is held in registers,
// as by nvcc, where clang as it is leaves it in memory; one that data indexes stays.
func TestPrivateArraysAsNVCC(t *testing.T) {
	const indexed = `
extern "C" __global__ void k(float *out, const float *in, int m, float y, float s) {
  float a[N];
  for (int k = 0; k < N; ++k) a[k] = 0;
  for (int i = 0; i < m; ++i)
    for (int k = 0; k < N; ++k) {
      float t = in[i] + k;
      t = t * y + s; t = t * y + s; t = t * y + s; t = t * y + s;
      a[k] += t;
    }
  for (int k = 0; k < N; ++k) out[threadIdx.x + k * m] = a[WHERE];
}`
	for _, tt := range []struct {
		n, where      string
		plain, asNVCC bool // in memory
	}{
		{"8", "k", false, false},
		{"32", "k", true, false},
		{"128", "k", true, false},
		{"300", "k", true, true}, // 173 are the most of nvcc 13.0
		{"8", "int(in[k])", true, true},
	} {
		r := request(t, "k.cu", fstest.MapFS{"k.cu": text(indexed)}, call.Macro{Name: "N", Value: tt.n}, call.Macro{Name: "WHERE", Value: tt.where})
		if got := keepsArrays(mustCompile(t, needClang(t), r).PTX); got != tt.plain {
			t.Errorf("%s words by %s: in memory by clang %v, want %v", tt.n, tt.where, got, tt.plain)
		}
		if got := keepsArrays(mustCompile(t, NewClangAsNVCC(sandbox.DefaultLimits()), r).PTX); got != tt.asNVCC {
			t.Errorf("%s words by %s: in memory as by nvcc %v, want %v", tt.n, tt.where, got, tt.asNVCC)
		}
	}
}

// Sums whose stores are guarded are done before the guard, as by nvcc.
func TestGuardedStoresAsNVCC(t *testing.T) {
	const guarded = `
extern "C" __global__ void k(float *out, const float *in, int n) {
  float a = 0, b = 0;
  for (int k = 0; k < 4; ++k) { a += in[k] * in[k + threadIdx.x]; b += in[k] * in[k + 1 + threadIdx.x]; }
  __syncthreads();
  if (threadIdx.x < n) out[threadIdx.x] = a;
  if (threadIdx.x + 32 < n) out[threadIdx.x + 32] = b;
}`
	r := request(t, "k.cu", fstest.MapFS{"k.cu": text(guarded)})
	before := func(ptx []byte) int {
		code, _, _ := strings.Cut(string(ptx), "bra ")
		return strings.Count(code, "fma.rn.f32")
	}
	const all = 6 // the first of each sum is a product
	if got := before(mustCompile(t, needClang(t), r).PTX); got >= all {
		t.Errorf("clang has %d of the sums before the first branch: nothing is to be told", got)
	}
	res := mustCompile(t, NewClangAsNVCC(sandbox.DefaultLimits()), r)
	if got := before(res.PTX); got < all {
		t.Errorf("%d sums before the first branch, want %d:\n%s", got, all, res.PTX)
	}
	if !strings.HasPrefix(res.Compiler, "clang ") || !strings.HasSuffix(res.Compiler, " as nvcc") {
		t.Errorf("made by %q", res.Compiler)
	}
}

// An array that a loop indexes which is unrolled only in part is left in memory, as by nvcc, but
// in the form that ptxas holds in registers: accessed by vectors, and filled by its own elements.
func TestIndexedArraysAsNVCC(t *testing.T) {
	const indexed = `
extern "C" __global__ void k(float *out, const float *in, int m) {
  float a[N];
  for (int k = 0; k < N; ++k) a[k] = 0;
  for (int i = 0; i < m; ++i) {
    float t = in[i];
#pragma unroll 4
    for (int k = 0; k < N; ++k) { a[k] += t * t; t += 0.5f; }
  }
  for (int k = 0; k < N; ++k) if (k < m) out[threadIdx.x + k * m] = a[k];
}`
	for _, n := range []string{"8", "16", "32"} {
		r := request(t, "k.cu", fstest.MapFS{"k.cu": text(indexed)}, call.Macro{Name: "N", Value: n})
		ptx := string(mustCompile(t, NewClangAsNVCC(sandbox.DefaultLimits()), r).PTX)
		for _, want := range []string{".local .align 16", "ld.local.v4.f32", "st.local.v4.f32"} {
			if !strings.Contains(ptx, want) {
				t.Errorf("%s words: no %s:\n%s", n, want, ptx)
			}
		}
		for _, not := range []string{"st.u64", "st.local.u64", "st.local.v2.u64"} {
			if strings.Contains(ptx, not) {
				t.Errorf("%s words: %s:\n%s", n, not, ptx)
			}
		}
	}
}

// Equal loads are shared however far apart they are, as by nvcc.
func TestEqualLoadsAsNVCC(t *testing.T) {
	const far = `
extern "C" __global__ void k(const float *__restrict__ in, float *__restrict__ out, int n) {
  __shared__ float t[9000];
  int x = threadIdx.x;
  for (int k = x; k < 9000; k += 32) t[k] = in[k];
  __syncthreads();
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    float s = 0;
#pragma unroll
    for (int j = 0; j < 300; ++j) s += t[x + r + 2 * j] * t[4500 + x + 3 * j];
    out[x + r * n] = s;
  }
}`
	r := request(t, "k.cu", fstest.MapFS{"k.cu": text(far)})
	const all = 900
	if got := strings.Count(string(mustCompile(t, needClang(t), r).PTX), "ld.shared"); got <= all {
		t.Errorf("clang has %d loads: nothing is to be told", got)
	}
	if got := strings.Count(string(mustCompile(t, NewClangAsNVCC(sandbox.DefaultLimits()), r).PTX), "ld.shared"); got != all {
		t.Errorf("%d loads, want %d", got, all)
	}
}

// Sums that a loop with barriers adds to are in registers while it runs, also where a rolled loop indexes
// them later: nvcc 13.0 stores them once, behind the loop.
func TestSumsBesideBarriersAsNVCC(t *testing.T) {
	const tile = `
extern "C" __global__ void k(const float *a, float *c, int n) {
  float acc[8][8] = {};
  __shared__ float s[2048];
  for (int t = 0; t < n; ++t) {
    s[threadIdx.x] = a[t * 256 + threadIdx.x];
    __syncthreads();
#pragma unroll
    for (int w = 0; w < 4; ++w)
#pragma unroll
      for (int i = 0; i < 8; ++i)
#pragma unroll
        for (int j = 0; j < 8; ++j) acc[i][j] += s[i + w] * s[j + 8 + w];
    __syncthreads();
  }
#pragma unroll 1
  for (int i = 0; i < 8; ++i)
#pragma unroll
    for (int j = 0; j < 8; ++j) c[(blockIdx.x * 256 + threadIdx.x) * 64 + i * 8 + j] = acc[i][j];
}`
	needClang(t)
	r := request(t, "k.cu", fstest.MapFS{"k.cu": text(tile)})
	ptx := string(mustCompile(t, NewClangAsNVCC(sandbox.DefaultLimits()), r).PTX)
	if loads := strings.Count(ptx, "ld.local"); loads != 8 {
		t.Errorf("%d loads of local memory, want the 8 of the last loop:\n%s", loads, ptx)
	}
}

// keepsArrays says whether PTX keeps anything of a thread's own in memory.
func keepsArrays(ptx []byte) bool { return bytes.Contains(ptx, []byte("\t.local .align")) }
