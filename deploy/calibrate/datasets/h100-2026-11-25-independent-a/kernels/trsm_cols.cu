// X of L X = B for many lower triangles L of 32x32 doubles and 128 columns of B each: COLS neighbouring columns a thread, in registers; L from shared memory (STAGE), with reciprocals of its diagonal (RECIPROCAL), or from global memory.
#define N 32
#define WIDE 128
extern "C" __global__ void trsm_cols(const double* __restrict__ l, const double* __restrict__ b, double* __restrict__ x, double shift) {
  const double* m = l + (size_t)blockIdx.y * (N * N);
#if STAGE
  __shared__ double s[N][N];
  for (int k = threadIdx.x; k < N * N; k += block_size_x) {
    double v = m[k];
    if (k % N == k / N) v = RECIPROCAL ? 1.0 / (v + shift) : v + shift;
    s[k / N][k % N] = v;
  }
  __syncthreads();
#define L(i, j) s[i][j]
#define DIAGONAL(i) s[i][i]
#else
#define L(i, j) m[(i) * N + (j)]
#define DIAGONAL(i) (m[(i) * N + (i)] + shift)
#endif
  size_t at = (size_t)blockIdx.y * (N * WIDE) + (blockIdx.x * block_size_x + threadIdx.x) * COLS;
  double v[COLS][N];
#pragma unroll
  for (int i = 0; i < N; ++i) {
#if COLS == 2
    double2 q = *(const double2*)(b + at + i * WIDE);
    v[0][i] = q.x, v[1][i] = q.y;
#else
    v[0][i] = b[at + i * WIDE];
#endif
  }
#pragma unroll
  for (int j = 0; j < N; ++j) {
#pragma unroll
    for (int c = 0; c < COLS; ++c)
#if RECIPROCAL
      v[c][j] *= DIAGONAL(j);
#else
      v[c][j] /= DIAGONAL(j);
#endif
#pragma unroll
    for (int i = j + 1; i < N; ++i)
#pragma unroll
      for (int c = 0; c < COLS; ++c) v[c][i] -= L(i, j) * v[c][j];
  }
#pragma unroll
  for (int i = 0; i < N; ++i) {
#if COLS == 2
    *(double2*)(x + at + i * WIDE) = make_double2(v[0][i], v[1][i]);
#else
    x[at + i * WIDE] = v[0][i];
#endif
  }
}
