package compile

import (
	"strings"
	"testing"
	"testing/fstest"
)

// What is cast to a vector of CUDA's is loaded and stored as one, whatever it was declared as, as by nvcc.
func TestCastsAsNVCC(t *testing.T) {
	const cast = `
#include <cuda_fp16.h>
extern "C" __global__ void k(const __half *a, int n, float *out) {
  __shared__ __align__(32) __half h[64][72];
  __shared__ float f[64][68];
  for (int e = threadIdx.x; e < 512; e += 128) {
    *(uint4 *)&h[e / 8][e % 8 * 8] = *(const uint4 *)(a + (size_t)(e / 8) * n + e % 8 * 8);
    *(float4 *)&f[e / 8][e % 8 * 4] = *(const float4 *)(a + (size_t)(e / 8) * n + e % 8 * 8);
  }
  __syncthreads();
  float4 v = *(const float4 *)&f[n][threadIdx.x * 4];
  out[threadIdx.x] = __half2float(h[threadIdx.x % 64][n]) + v.x + v.y + v.z + v.w;
}`
	r := request(t, "k.cu", fstest.MapFS{"k.cu": text(cast)})
	res := mustCompile(t, NewClangAsNVCC(needClang(t).limits), r)
	ptx := string(res.PTX)
	for _, none := range []string{"st.shared.u16", "st.shared.b16", "st.shared.f32", "st.shared.u32"} {
		if strings.Contains(ptx, none) {
			t.Errorf("%s for a vector:\n%s", none, ptx)
		}
	}
	if !strings.Contains(ptx, "ld.shared.v4") {
		t.Errorf("no vector is loaded:\n%s", ptx)
	}
}
