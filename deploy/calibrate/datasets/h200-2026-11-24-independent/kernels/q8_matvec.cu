// A matrix of signed bytes, 32 of a row to a scale, times a vector quantised the same way: dp4a, a warp ROWS rows, VEC words a load, the vector in shared memory or not.
#include <cuda_fp16.h>
#if VEC == 1
typedef unsigned word;
#elif VEC == 2
typedef uint2 word;
#else
typedef uint4 word;
#endif
#define COLS 4096
extern "C" __global__ void q8_matvec(const unsigned* __restrict__ w, const __half* __restrict__ scale, const unsigned* __restrict__ x, const float* __restrict__ xscale, float* __restrict__ y, int rows) {
#if STAGED
  __shared__ uint4 sx[COLS / 16];
  __shared__ float ss[COLS / 32];
  for (int i = threadIdx.x; i < COLS / 16; i += WARPS * 32) sx[i] = ((const uint4*)x)[i];
  for (int i = threadIdx.x; i < COLS / 32; i += WARPS * 32) ss[i] = xscale[i];
  __syncthreads();
  const unsigned* vx = (const unsigned*)sx;
  const float* vs = ss;
#else
  const unsigned* __restrict__ vx = x;
  const float* __restrict__ vs = xscale;
#endif
  int lane = threadIdx.x & 31, row = (blockIdx.x * WARPS + (threadIdx.x >> 5)) * ROWS;
  if (row >= rows) return;
  float sum[ROWS];
#pragma unroll
  for (int r = 0; r < ROWS; ++r) sum[r] = 0;
  for (int k = lane * VEC; k < COLS / 4; k += 32 * VEC) {
    word a = *(const word*)(vx + k);
    float as = vs[k / 8];
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
      word b = *(const word*)(w + (size_t)(row + r) * (COLS / 4) + k);
      int dot = 0;
#pragma unroll
      for (int v = 0; v < VEC; ++v) dot = __dp4a((int)((const unsigned*)&a)[v], (int)((const unsigned*)&b)[v], dot);
      sum[r] += as * __half2float(scale[(size_t)(row + r) * (COLS / 32) + k / 8]) * (float)dot;
    }
  }
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
#pragma unroll
    for (int d = 16; d; d >>= 1) sum[r] += __shfl_xor_sync(0xffffffffu, sum[r], d);
    if (lane == 0) y[row + r] = sum[r];
  }
}
