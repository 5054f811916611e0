// Sparse matrix of doubles times a vector, in slices of 32 rows of the same length, padded, stored column by column (SELL): TPR warps a slice take columns in turn and add up in shared memory; UNROLL columns at once; matrix read past the caches (PAST).
#define SLICES (BLOCK / (32 * TPR))
#if PAST
#define READ(p) __ldcs(p)
#else
#define READ(p) __ldg(p)
#endif
extern "C" __global__ void __launch_bounds__(BLOCK) sell_spmv(const int* __restrict__ start, const int* __restrict__ column, const double* __restrict__ value, const double* __restrict__ x, double* __restrict__ y) {
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32, part = warp % TPR, slice = blockIdx.x * SLICES + warp / TPR;
  int end = start[slice + 1];
  double s = 0.0;
#pragma unroll UNROLL
  for (int k = start[slice] + part * 32 + lane; k < end; k += 32 * TPR) s += READ(value + k) * x[READ(column + k)];
#if TPR > 1
  __shared__ double sum[BLOCK];
  sum[threadIdx.x] = s;
  __syncthreads();
  if (part) return;
#pragma unroll
  for (int p = 1; p < TPR; ++p) s += sum[threadIdx.x + p * 32];
#endif
  y[slice * 32 + lane] = s;
}
