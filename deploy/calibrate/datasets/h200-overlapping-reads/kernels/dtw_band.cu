// Subsequence distances: each thread slides a query over a long series, its sum of absolute differences under several warps of time (a table of where to look).
extern "C" __global__ void dtw_band(const float* __restrict__ series, const float* __restrict__ query, const int* __restrict__ shift, float* __restrict__ best, int n, int m, int tables) {
  int x = blockIdx.x * BLOCK * EACH + threadIdx.x;
#if QSHARED
  __shared__ float q[512];
  for (int i = threadIdx.x; i < m; i += BLOCK) q[i] = query[i];
  __syncthreads();
#else
  const float* __restrict__ q = query;
#endif
  float least[EACH];
#pragma unroll
  for (int e = 0; e < EACH; ++e) least[e] = 3e38f;
  for (int k = 0; k < tables; ++k) {
    float sum[EACH] = {};
#pragma unroll UNROLL
    for (int i = 0; i < m; ++i) {
      int s = shift[k * m + i];
#pragma unroll
      for (int e = 0; e < EACH; ++e) sum[e] += fabsf(series[x + e * BLOCK + s] - q[i]);
    }
#pragma unroll
    for (int e = 0; e < EACH; ++e) least[e] = fminf(least[e], sum[e]);
  }
#pragma unroll
  for (int e = 0; e < EACH; ++e)
    if (x + e * BLOCK < n) best[x + e * BLOCK] = least[e];
}
