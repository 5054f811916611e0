package compile

import (
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/warptune/warptune/tuner/kernel/compile/sandbox"
)

// Shared memory is accessed by addresses of 32 bits, which what is added to an index is folded into, as by nvcc.
func TestSharedIn32BitsAsNVCC(t *testing.T) {
	const neighbours = `
extern __shared__ float more[];
extern "C" __global__ void k(const float *in, float *out, unsigned n) {
  __shared__ float t[32][33];
  t[threadIdx.y][threadIdx.x] = in[threadIdx.x];
  more[threadIdx.x] = in[n];
  __syncthreads();
  if (threadIdx.x > n && threadIdx.y > n)
    out[threadIdx.x] = t[threadIdx.y - 1][threadIdx.x] + t[threadIdx.y][threadIdx.x - 1] + t[threadIdx.y + 1][threadIdx.x + 1] + more[threadIdx.x - 3];
}`
	r := request(t, "k.cu", fstest.MapFS{"k.cu": text(neighbours)})
	long := regexp.MustCompile(`(ld|st)\.shared\S* .*\[%rd`)
	if plain := mustCompile(t, needClang(t), r).PTX; !long.Match(plain) {
		t.Errorf("clang as it is has no address of 64 bits: nothing is to be told:\n%s", plain)
	}
	ptx := mustCompile(t, NewClangAsNVCC(sandbox.DefaultLimits()), r).PTX
	if long.Match(ptx) {
		t.Errorf("addresses of 64 bits:\n%s", ptx)
	}
	for _, want := range []string{"+-132]", "+-4]", "+136]", "+-12]"} {
		if !strings.Contains(string(ptx), want) {
			t.Errorf("no load at [%%r%s:\n%s", want, ptx)
		}
	}
}

// An address that a kernel asks for in shared memory is computed there: nothing is made generic and back.
func TestCvtaAsNVCC(t *testing.T) {
	const asks = `
#include <cuda_pipeline.h>
extern "C" __global__ void k(const float *in, float *out) {
  __shared__ __align__(16) float t[256];
  __pipeline_memcpy_async(t + 4 * threadIdx.x, in + 4 * threadIdx.x, 16);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  asm volatile("ld.shared.f32 %0, [%1];" : "=f"(*out) : "r"((unsigned)__cvta_generic_to_shared(t + threadIdx.x)));
}`
	r := request(t, "k.cu", fstest.MapFS{"k.cu": text(asks)})
	ptx := string(mustCompile(t, NewClangAsNVCC(needClang(t).limits), r).PTX)
	for _, none := range []string{"cvta.shared", "cvta.to.shared"} {
		if strings.Contains(ptx, none) {
			t.Errorf("%s:\n%s", none, ptx)
		}
	}
}
