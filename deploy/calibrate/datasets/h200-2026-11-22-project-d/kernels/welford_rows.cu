// Rows normalised by their mean and variance, which Welford's update finds in one pass: TPR threads a row, RPB rows a block, VEC columns a load, all of a thread's in one chain
// or each in its own (CHAINS); the row is read again for the second pass, or stays in registers (KEEP).
#define COLS 3072
#define PER ((COLS + TPR * VEC - 1) / (TPR * VEC))
#define NWARPS (TPR / 32)
#if VEC == 1
typedef float word;
#elif VEC == 2
typedef float2 word;
#else
typedef float4 word;
#endif
__device__ __forceinline__ void update(float n, float& mean, float& m2, float v) {
  float d = v - mean;
  mean += __fdividef(d, n);
  m2 += d * (v - mean);
}
__device__ __forceinline__ void merge(float& n, float& mean, float& m2, float n2, float mean2, float m22) {
  float all = n + n2, d = mean2 - mean, share = all > 0 ? __fdividef(n2, all) : 0;
  mean += d * share;
  m2 += m22 + d * d * n * share;
  n = all;
}
extern "C" __global__ void welford_rows(const float* __restrict__ x, float* __restrict__ y, float2* __restrict__ stats) {
  size_t row = (size_t)blockIdx.x * RPB + threadIdx.y;
  const float* r = x + row * COLS;
  float* o = y + row * COLS;
  int tx = threadIdx.x;
  float count[CHAINS], mean[CHAINS], m2[CHAINS];
#pragma unroll
  for (int j = 0; j < CHAINS; ++j) count[j] = mean[j] = m2[j] = 0;
#if KEEP
  word kept[PER];
#pragma unroll
#endif
  for (int p = 0; p < PER; ++p) {
    int c = (p * TPR + tx) * VEC;
    if (COLS % (TPR * VEC) == 0 || c < COLS) {
      word v = *(const word*)(r + c);
#if KEEP
      kept[p] = v;
#endif
#pragma unroll
      for (int j = 0; j < VEC; ++j) update(++count[j % CHAINS], mean[j % CHAINS], m2[j % CHAINS], ((const float*)&v)[j]);
    }
  }
  float n = count[0], m = mean[0], q = m2[0];
#pragma unroll
  for (int j = 1; j < CHAINS; ++j) merge(n, m, q, count[j], mean[j], m2[j]);
#pragma unroll
  for (int d = 16; d; d >>= 1) {
    float n2 = __shfl_xor_sync(~0u, n, d), mean2 = __shfl_xor_sync(~0u, m, d), m22 = __shfl_xor_sync(~0u, q, d);
    merge(n, m, q, n2, mean2, m22);
  }
#if NWARPS > 1
  __shared__ float part[RPB][3][NWARPS];
  int lane = tx % 32, at = lane % NWARPS;
  if (lane == 0) part[threadIdx.y][0][tx / 32] = n, part[threadIdx.y][1][tx / 32] = m, part[threadIdx.y][2][tx / 32] = q;
  __syncthreads();
  n = part[threadIdx.y][0][at], m = part[threadIdx.y][1][at], q = part[threadIdx.y][2][at];
#pragma unroll
  for (int d = NWARPS / 2; d; d >>= 1) {
    float n2 = __shfl_xor_sync(~0u, n, d), mean2 = __shfl_xor_sync(~0u, m, d), m22 = __shfl_xor_sync(~0u, q, d);
    merge(n, m, q, n2, mean2, m22);
  }
#endif
  float variance = q / COLS, scale = rsqrtf(variance + 1e-5f);
  if (tx == 0) stats[row] = make_float2(m, variance);
#if KEEP
#pragma unroll
#endif
  for (int p = 0; p < PER; ++p) {
    int c = (p * TPR + tx) * VEC;
    if (COLS % (TPR * VEC) == 0 || c < COLS) {
#if KEEP
      word v = kept[p];
#else
      word v = *(const word*)(r + c);
#endif
#pragma unroll
      for (int j = 0; j < VEC; ++j) ((float*)&v)[j] = (((const float*)&v)[j] - m) * scale;
      *(word*)(o + c) = v;
    }
  }
}
