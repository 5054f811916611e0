package compile

import (
	"regexp"
	"testing"
	"testing/fstest"
)

// Fragments of shared memory are loaded from there by name, those of global memory are not, as by nvcc.
func TestFragmentsAsNVCC(t *testing.T) {
	const product = `
#include <mma.h>
using namespace nvcuda;
extern "C" __global__ void k(const __half *a, float *c, int n) {
  __shared__ __align__(32) __half s[4][16][24];
  __shared__ __align__(32) float sums[16][16];
  for (int e = threadIdx.x; e < 1536; e += 32) s[e / 384][e / 24 % 16][e % 24] = a[e];
  __syncthreads();
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  for (int i = 0; i < n; ++i) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> fb;
    wmma::load_matrix_sync(fa, s[i % 4][0], 24);
    wmma::load_matrix_sync(fb, a + 256 * i, 16);
    wmma::mma_sync(sum, fa, fb, sum);
  }
  wmma::store_matrix_sync(sums[0], sum, 16, wmma::mem_row_major);
  __syncthreads();
  c[threadIdx.x] = sums[threadIdx.x / 16][threadIdx.x % 16];
}`
	r := request(t, "k.cu", fstest.MapFS{"k.cu": text(product)})
	ptx := mustCompile(t, NewClangAsNVCC(needClang(t).limits), r).PTX
	for _, want := range []string{
		`wmma\.load\.a\.sync\.aligned\.row\.m16n16k16\.shared\.f16 \{.*\[%r\d+\]`,
		`wmma\.load\.b\.sync\.aligned\.row\.m16n16k16\.f16 \{.*\[%rd\d+\]`,
		`wmma\.store\.d\.sync\.aligned\.row\.m16n16k16\.shared\.f32 \[%r\d+\]`,
	} {
		if !regexp.MustCompile(want).Match(ptx) {
			t.Errorf("no %s:\n%s", want, ptx)
		}
	}
}
