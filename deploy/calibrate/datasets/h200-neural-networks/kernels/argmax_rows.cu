// The place of the greatest of each row, of TPR threads; value and place by themselves or as one 64-bit number (PACK).
__device__ __forceinline__ unsigned ordered(float f) { unsigned b = __float_as_uint(f); return b ^ ((unsigned)((int)b >> 31) | 0x80000000u); }
extern "C" __global__ void argmax_rows(const float* __restrict__ x, int* __restrict__ at, int rows, int cols) {
  int row = blockIdx.x * RPB + threadIdx.y, t = threadIdx.x;
  const float* r = x + (size_t)min(row, rows - 1) * cols;
#if PACK
  unsigned long long best = 0;
#pragma unroll UNROLL
  for (int c = t; c < cols; c += TPR) {
    unsigned long long v = (unsigned long long)ordered(r[c]) << 32 | (unsigned)~c;
    best = v > best ? v : best;
  }
#define MERGE(o) best = max(best, o)
#else
  float best = -1e30f;
  int where = 0;
#pragma unroll UNROLL
  for (int c = t; c < cols; c += TPR) {
    float v = r[c];
    if (v > best) best = v, where = c;
  }
#endif
#pragma unroll
  for (int d = (TPR < 32 ? TPR : 32) / 2; d; d >>= 1) {
#if PACK
    unsigned long long o = __shfl_xor_sync(~0u, best, d);
    best = o > best ? o : best;
#else
    float o = __shfl_xor_sync(~0u, best, d);
    int w = __shfl_xor_sync(~0u, where, d);
    if (o > best || (o == best && w < where)) best = o, where = w;
#endif
  }
#if TPR > 32
#if PACK
  __shared__ unsigned long long part[RPB][TPR / 32];
  if (t % 32 == 0) part[threadIdx.y][t / 32] = best;
  __syncthreads();
  if (t == 0) for (int w = 1; w < TPR / 32; ++w) { unsigned long long o = part[threadIdx.y][w]; best = o > best ? o : best; }
#else
  __shared__ float part[RPB][TPR / 32];
  __shared__ int place[RPB][TPR / 32];
  if (t % 32 == 0) part[threadIdx.y][t / 32] = best, place[threadIdx.y][t / 32] = where;
  __syncthreads();
  if (t == 0) for (int w = 1; w < TPR / 32; ++w) { float o = part[threadIdx.y][w]; if (o > best) best = o, where = place[threadIdx.y][w]; }
#endif
#endif
#if PACK
  int where = ~(unsigned)best;
#endif
  if (t == 0 && row < rows) at[row] = where;
}
