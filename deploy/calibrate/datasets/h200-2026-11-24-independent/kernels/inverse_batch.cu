// Inverses of many 5x5 matrices of doubles by Gauss-Jordan in place, a matrix a thread: in registers where the loop over pivots is unrolled; a matrix contiguous, an element of all, or through shared memory.
#define N 5
#if LAYOUT == 1
#define AT(e) ((e) * count + i)
#else
#define AT(e) (i * (N * N) + (e))
#endif
extern "C" __global__ void inverse_batch(const double* __restrict__ in, double* __restrict__ out, int count) {
  int i = blockIdx.x * BLOCK + threadIdx.x;
  double a[N][N];
#if LAYOUT == 2
  __shared__ double tile[BLOCK * N * N];
  int base = blockIdx.x * BLOCK * N * N, most = min(BLOCK * N * N, count * N * N - base);
  for (int k = threadIdx.x; k < most; k += BLOCK) tile[k] = in[base + k];
  __syncthreads();
#define GET(e) tile[threadIdx.x * (N * N) + (e)]
#else
  if (i >= count) return;
#define GET(e) in[AT(e)]
#endif
#if LAYOUT == 2
  if (i < count)
#endif
  {
#pragma unroll
    for (int r = 0; r < N; ++r)
#pragma unroll
      for (int c = 0; c < N; ++c) a[r][c] = GET(r * N + c) + (r == c ? 6.0 : 0.0);
#pragma unroll PIVOTS
    for (int p = 0; p < N; ++p) {
      double inv = 1.0 / a[p][p];
      a[p][p] = 1.0;
#pragma unroll
      for (int c = 0; c < N; ++c) a[p][c] *= inv;
#pragma unroll
      for (int r = 0; r < N; ++r)
        if (r != p) {
          double f = a[r][p];
          a[r][p] = 0.0;
#pragma unroll
          for (int c = 0; c < N; ++c) a[r][c] -= f * a[p][c];
        }
    }
#pragma unroll
    for (int r = 0; r < N; ++r)
#pragma unroll
      for (int c = 0; c < N; ++c)
#if LAYOUT == 2
        tile[threadIdx.x * (N * N) + r * N + c] = a[r][c];
#else
        out[AT(r * N + c)] = a[r][c];
#endif
  }
#if LAYOUT == 2
  __syncthreads();
  for (int k = threadIdx.x; k < most; k += BLOCK) out[base + k] = tile[k];
#endif
}
