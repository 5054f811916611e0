// Triangular factors of matrices of 24x24 in shared memory: a thread a row, MATRICES a block.
#define N 24
extern "C" __global__ void lu_batch(const float* __restrict__ in, float* __restrict__ out) {
  __shared__ float a[MATRICES][N][N + PAD];
  int row = threadIdx.x, m = threadIdx.y;
  size_t base = (size_t)blockIdx.x * MATRICES * N * N;
  for (int i = m * N + row; i < MATRICES * N * N; i += MATRICES * N) {
    int r = i / N % N, c = i % N;
    a[i / (N * N)][r][c] = in[base + i] + (r == c ? N : 0);
  }
  __syncthreads();
  for (int k = 0; k < N - 1; ++k) {
    if (row > k) {
      float f = a[m][row][k] / a[m][k][k];
      a[m][row][k] = f;
#pragma unroll UNROLL
      for (int c = k + 1; c < N; ++c) a[m][row][c] -= f * a[m][k][c];
    }
    __syncthreads();
  }
  for (int i = m * N + row; i < MATRICES * N * N; i += MATRICES * N) out[base + i] = a[i / (N * N)][i / N % N][i % N];
}
