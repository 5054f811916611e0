// A matrix of weights of four bits times a vector of halves: a warp ROWS rows, VEC words a load, the vector in shared memory (STAGED 1) or not. A word has
// eight columns, 2i at bit 4i and 2i+1 at bit 16+4i; 128 columns of a row have a scale. Bits become numbers by integer conversion, or as a half's mantissa (MAGIC).
#include <cuda_fp16.h>
#define COLS 8192
#define GROUP 128
#define WORDS (COLS / 8)
#if VEC == 1
typedef unsigned word;
#elif VEC == 2
typedef uint2 word;
#else
typedef uint4 word;
#endif
__device__ __forceinline__ __half2 as_half2(unsigned bits) {
  union { unsigned bits; __half2 h; } u;
  u.bits = bits;
  return u.h;
}
extern "C" __global__ void gemv_w4(const unsigned* __restrict__ weights, const __half* __restrict__ scales, const __half* __restrict__ x, float* __restrict__ y, int rows) {
  int lane = threadIdx.x % 32, row = (blockIdx.x * WARPS + threadIdx.x / 32) * ROWS;
#if STAGED
  __shared__ uint4 from[WORDS];
  for (int i = threadIdx.x; i < WORDS; i += WARPS * 32) from[i] = ((const uint4*)x)[i];
  __syncthreads();
#else
  const uint4* __restrict__ from = (const uint4*)x;
#endif
  if (row >= rows) return;
  float sum[ROWS] = {};
  for (int k = lane * VEC; k < WORDS; k += 32 * VEC) {
    word w[ROWS];
    float scale[ROWS], part[ROWS] = {};
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
      w[r] = *(const word*)(weights + (size_t)(row + r) * WORDS + k);
      scale[r] = __half2float(scales[(size_t)(row + r) * (COLS / GROUP) + k / (GROUP / 8)]);
    }
#pragma unroll
    for (int v = 0; v < VEC; ++v) {
      uint4 eight = from[k + v];
      unsigned two[4] = {eight.x, eight.y, eight.z, eight.w};
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        float2 a = __half22float2(as_half2(two[i]));
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
          unsigned q = ((const unsigned*)&w[r])[v] >> (4 * i);
#if MAGIC
          float2 f = __half22float2(__hsub2(as_half2((q & 0x000f000fu) | 0x64006400u), as_half2(0x64086408u)));
#else
          float2 f = make_float2((int)(q & 15) - 8, (int)(q >> 16 & 15) - 8);
#endif
          part[r] += f.x * a.x + f.y * a.y;
        }
      }
    }
#pragma unroll
    for (int r = 0; r < ROWS; ++r) sum[r] += scale[r] * part[r];
  }
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
#pragma unroll
    for (int d = 16; d; d >>= 1) sum[r] += __shfl_xor_sync(~0u, sum[r], d);
    if (lane == 0) y[row + r] = sum[r];
  }
}
