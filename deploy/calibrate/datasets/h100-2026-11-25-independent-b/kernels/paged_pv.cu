// Second half of attention at decoding: probabilities of four heads times the values they share, which lie in pages of 16 tokens found by a table; a CTA a sequence, group of heads and one of SPLIT stretches of tokens; 128/VEC threads by BY tokens; probabilities by way of shared memory (STAGE); AHEAD tokens at once.
#include <cuda_fp16.h>
#define DIM 128
#define PAGE 16
#define GROUPS 8
#define HEADS 4
#define BX (DIM / VEC)
#if VEC == 8
typedef uint4 word;
#elif VEC == 4
typedef uint2 word;
#else
typedef unsigned word;
#endif
extern "C" __global__ void __launch_bounds__(BX * BY) paged_pv(const __half* __restrict__ prob, const __half* __restrict__ values, const int* __restrict__ table, float* __restrict__ partial, int tokens) {
  __shared__ float sum[BY][HEADS][DIM];
  int group = blockIdx.x, seq = blockIdx.y, part = blockIdx.z, n = tokens / SPLIT, t0 = part * n;
  const __half* p = prob + ((size_t)seq * GROUPS + group) * HEADS * tokens + t0;
#if STAGE
  __shared__ __half mine[HEADS][2048 / SPLIT];
  for (int k = threadIdx.y * BX + threadIdx.x; k < HEADS * n; k += BX * BY) mine[k / n][k % n] = p[(size_t)(k / n) * tokens + k % n];
  __syncthreads();
#endif
  const int* pages = table + seq * (tokens / PAGE);
  float acc[HEADS][VEC];
#pragma unroll
  for (int h = 0; h < HEADS; ++h)
#pragma unroll
    for (int v = 0; v < VEC; ++v) acc[h][v] = 0.0f;
#pragma unroll AHEAD
  for (int t = threadIdx.y; t < n; t += BY) {
    int page = pages[(t0 + t) / PAGE];
    word w = *(const word*)(values + (((size_t)page * PAGE + (t0 + t) % PAGE) * GROUPS + group) * DIM + threadIdx.x * VEC);
    const __half2* two = (const __half2*)&w;
    float f[HEADS];
#pragma unroll
    for (int h = 0; h < HEADS; ++h)
#if STAGE
      f[h] = __half2float(mine[h][t]);
#else
      f[h] = __half2float(p[(size_t)h * tokens + t]);
#endif
#pragma unroll
    for (int v = 0; v < VEC / 2; ++v) {
      float2 q = __half22float2(two[v]);
#pragma unroll
      for (int h = 0; h < HEADS; ++h) acc[h][2 * v] += f[h] * q.x, acc[h][2 * v + 1] += f[h] * q.y;
    }
  }
#pragma unroll
  for (int h = 0; h < HEADS; ++h)
#pragma unroll
    for (int v = 0; v < VEC; ++v) sum[threadIdx.y][h][threadIdx.x * VEC + v] = acc[h][v];
  __syncthreads();
  float* out = partial + (((size_t)part * gridDim.y + seq) * GROUPS + group) * HEADS * DIM;
  for (int k = threadIdx.y * BX + threadIdx.x; k < HEADS * DIM; k += BX * BY) {
    float s = 0.0f;
#pragma unroll
    for (int y = 0; y < BY; ++y) s += sum[y][k / DIM][k % DIM];
    out[k] = s;
  }
}
