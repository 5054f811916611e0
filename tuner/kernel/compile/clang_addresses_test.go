package compile

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/warptune/warptune/tuner/kernel/compile/asnvcc"
	"github.com/warptune/warptune/tuner/kernel/compile/asnvcc/stages"
	"github.com/warptune/warptune/tuner/kernel/compile/sandbox"
)

// An address that is another one and a stride is computed from that, as by nvcc: clang multiplies
// for each copy of an unrolled loop's body.
func TestChainedAddressesAsNVCC(t *testing.T) {
	const rows = `
extern "C" __global__ void k(const float *__restrict__ in, float *__restrict__ out, int n, int m) {
  int x = blockIdx.x * 128 + threadIdx.x;
  float s = 0;
#pragma unroll 8
  for (int i = 0; i < m; ++i) out[i * n + x] = s += in[i * n + x];
}`
	r := request(t, "k.cu", fstest.MapFS{"k.cu": text(rows)})
	products := func(ptx []byte) int { return strings.Count(string(ptx), "mul.wide.s32") }
	if got := products(mustCompile(t, needClang(t), r).PTX); got <= 8 {
		t.Errorf("clang multiplies %d times: nothing is to be told", got)
	}
	ptx := mustCompile(t, NewClangAsNVCC(sandbox.DefaultLimits()), r).PTX
	if got := products(ptx); got > 4 {
		t.Errorf("%d products:\n%s", got, ptx)
	}
	if n := strings.Count(string(ptx), "ld.global.f32"); n > 0 {
		t.Errorf("%d loads are not from constant memory:\n%s", n, ptx)
	}
}

// Vectors are loaded whole however far their address is from where it starts, as by nvcc.
func TestChainedVectorsAsNVCC(t *testing.T) {
	const rows = `
extern "C" __global__ void k(const unsigned *__restrict__ in, unsigned *__restrict__ out, int n, int m) {
  int x = (blockIdx.x * 128 + threadIdx.x) * 2;
  uint2 s = {0, 0};
#pragma unroll 8
  for (int i = 0; i < m; ++i) {
    uint2 v = *(const uint2 *)(in + i * n + x);
    s.x += v.x, s.y += v.y;
    *(uint2 *)(out + i * n + x) = s;
  }
}`
	r := request(t, "k.cu", fstest.MapFS{"k.cu": text(rows)})
	ptx := string(mustCompile(t, NewClangAsNVCC(sandbox.DefaultLimits()), r).PTX)
	if vectors, all := strings.Count(ptx, "ld.global.nc.v2"), strings.Count(ptx, "ld.global"); vectors != 9 || all != 9 {
		t.Errorf("%d of %d loads are of vectors, want 9 of 9:\n%s", vectors, all, ptx)
	}
}

// Constants of indexes that are multiplied are offsets of loads, as by nvcc.
func TestConstantOffsetsAsNVCC(t *testing.T) {
	const neighbours = `
extern "C" __global__ void k(const float *__restrict__ in, float *__restrict__ out) {
  int x0 = (blockIdx.y * 8 + threadIdx.y) * 7, y = blockIdx.z;
  float s = 0;
#pragma unroll
  for (int k = 0; k < 6; ++k) {
    int x = x0 + k;
    if (x < 224 && y < 224) s += in[((size_t)y * 224 + x) * 128 + threadIdx.x];
  }
  out[x0 * 128 + threadIdx.x] = s;
}`
	r := request(t, "k.cu", fstest.MapFS{"k.cu": text(neighbours)})
	offset := func(ptx []byte) int {
		return strings.Count(string(ptx), "+512]") + strings.Count(string(ptx), "+2560]")
	}
	if got := offset(mustCompile(t, needClang(t), r).PTX); got != 0 {
		t.Errorf("clang has %d of the offsets: nothing is to be told", got)
	}
	ptx := mustCompile(t, NewClangAsNVCC(sandbox.DefaultLimits()), r).PTX
	if got := offset(ptx); got != 2 {
		t.Errorf("%d of 2 offsets:\n%s", got, ptx)
	}
}

// No loop holds more numbers of 64 bits than nvcc's do.
func TestHeldPointersAsNVCC(t *testing.T) {
	const stencil = `
extern "C" __global__ void k(const float *__restrict__ u, float *__restrict__ v, int n) {
  int x = blockIdx.x * 64 + threadIdx.x, y = blockIdx.y, z0 = blockIdx.z * 64;
  size_t p = (size_t)n * n, i = (size_t)z0 * p + (size_t)y * n + x;
  float below = z0 ? u[i - p] : 0.0f, here = u[i];
#pragma unroll 4
  for (int k = 0; k < 64; ++k, i += p) {
    float above = z0 + k + 1 < n ? u[i + p] : 0.0f;
    v[i] = 0.4f * here + 0.1f * (u[i - 1] + u[i + 1] + u[i - n] + u[i + n] + below + above);
    below = here;
    here = above;
  }
}`
	r := request(t, "k.cu", fstest.MapFS{"k.cu": text(stencil)})
	if got := asnvcc.MostHeld(mustCompile(t, needClang(t), r).PTX); got <= stages.MaxHeld {
		t.Errorf("clang holds %d: nothing is to be told", got)
	}
	if got := asnvcc.MostHeld(mustCompile(t, NewClangAsNVCC(sandbox.DefaultLimits()), r).PTX); got > stages.MaxHeld {
		t.Errorf("%d are held", got)
	}
}
