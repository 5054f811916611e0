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

func TestTrustCasts(t *testing.T) {
	const copy = "  call void @llvm.memcpy.p0.p0.i64(ptr align 4 %1, ptr align 16 %2, i64 16, i1 false), !tbaa.struct !1\n"
	const trusted = "  call void @llvm.memcpy.p0.p0.i64(ptr align 16 %1, ptr align 16 %2, i64 16, i1 false), !tbaa.struct !1\n"
	const unaligned = "  call void @llvm.memcpy.p0.p0.i64(ptr align 4 %1, ptr align 8 %2, i64 16, i1 false), !tbaa.struct !1\n"
	for _, tt := range []struct{ name, types, in, want string }{
		{"a vector", "%struct.float4 = type { float, float, float, float }\n", copy, trusted},
		{"one that nothing else is known of", "", copy, trusted},
		{"neither side is aligned", "", unaligned, unaligned},
		{"a struct of the program's", "%struct.point = type { float, float, float, float }\n", copy, copy},
		{"one of another shape", "%struct.point = type { float, float }\n%struct.pair = type { ptr, i32 }\n", copy, trusted},
		{"not all of it", "", strings.Replace(copy, "i64 16", "i64 8", 1), strings.Replace(copy, "i64 16", "i64 8", 1)},
	} {
		if got := string(trustCasts([]byte(tt.types + tt.in + copyMetadata))); got != tt.types+tt.want+copyMetadata {
			t.Errorf("%s became\n%s", tt.name, strings.TrimSuffix(got, copyMetadata))
		}
	}
}
