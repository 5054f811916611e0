// Weights of four bits to halves, with a scale and a zero for each column and 128 rows: eight columns a word, ROWS rows a thread under one another; bits become numbers by conversion or as a half's mantissa (MAGIC); stores that pass the caches by (PAST).
#include <cuda_fp16.h>
#define GROUP 128
__device__ __forceinline__ __half2 as_half2(unsigned bits) {
  union { unsigned bits; __half2 h; } u;
  u.bits = bits;
  return u.h;
}
__device__ __forceinline__ unsigned as_bits(__half2 h) {
  union { unsigned bits; __half2 h; } u;
  u.h = h;
  return u.bits;
}
extern "C" __global__ void __launch_bounds__(BX * BY) dequant_w4(const unsigned* __restrict__ packed, const unsigned* __restrict__ zeros, const __half* __restrict__ scales, __half* __restrict__ out, int words) {
  int c = blockIdx.x * BX + threadIdx.x, row = (blockIdx.y * BY + threadIdx.y) * ROWS, group = row / GROUP;
  unsigned z = zeros[(size_t)group * words + c];
  uint4 s = ((const uint4*)scales)[(size_t)group * words + c];
  unsigned sb[4] = {s.x, s.y, s.z, s.w};
  unsigned q[ROWS];
#pragma unroll
  for (int r = 0; r < ROWS; ++r) q[r] = packed[(size_t)(row + r) * words + c];
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    unsigned o[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      unsigned a = q[r] >> (4 * k), b = z >> (4 * k);
#if MAGIC
      __half2 d = __hsub2(as_half2((a & 0x000f000fu) | 0x64006400u), as_half2((b & 0x000f000fu) | 0x64006400u));
      o[k] = as_bits(__hmul2(d, as_half2(sb[k])));
#else
      float2 f = __half22float2(as_half2(sb[k]));
      f.x *= (float)((int)(a & 15) - (int)(b & 15));
      f.y *= (float)((int)(a >> 16 & 15) - (int)(b >> 16 & 15));
      o[k] = as_bits(__floats2half2_rn(f.x, f.y));
#endif
    }
    uint4* to = (uint4*)out + (size_t)(row + r) * words + c;
#if PAST
    __stcs(to, make_uint4(o[0], o[1], o[2], o[3]));
#else
    *to = make_uint4(o[0], o[1], o[2], o[3]);
#endif
  }
}
