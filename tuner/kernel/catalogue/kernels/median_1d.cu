// Median of a sliding window. SORT=0: insertion sort, whose indices are known at run time only, so the window lives in
// local memory; 1: an odd-even transposition network, unrolled, in registers; 2: each element's rank, unrolled, in registers.
extern "C" __global__ void median_1d(const float* __restrict__ in, float* __restrict__ out, int n) {
  int i = blockIdx.x * BLOCK_SIZE + threadIdx.x;
  if (i >= n) return;
  float w[WINDOW];
#if SORT == 0
#pragma unroll 1
  for (int k = 0; k < WINDOW; ++k) {
    float v = in[i + k];
    int j = k;
#pragma unroll 1
    for (; j > 0 && w[j - 1] > v; --j) w[j] = w[j - 1];
    w[j] = v;
  }
  out[i] = w[WINDOW / 2];
#elif SORT == 1
#pragma unroll
  for (int k = 0; k < WINDOW; ++k) w[k] = in[i + k];
#pragma unroll
  for (int p = 0; p < WINDOW; ++p)
#pragma unroll
    for (int k = p & 1; k + 1 < WINDOW; k += 2) {
      float a = w[k], b = w[k + 1];
      w[k] = fminf(a, b);
      w[k + 1] = fmaxf(a, b);
    }
  out[i] = w[WINDOW / 2];
#else
#pragma unroll
  for (int k = 0; k < WINDOW; ++k) w[k] = in[i + k];
  float m = 0.f;
#pragma unroll
  for (int k = 0; k < WINDOW; ++k) {
    int rank = 0;
#pragma unroll
    for (int j = 0; j < WINDOW; ++j) rank += w[j] < w[k] || (w[j] == w[k] && j < k);
    if (rank == WINDOW / 2) m = w[k];
  }
  out[i] = m;
#endif
}
