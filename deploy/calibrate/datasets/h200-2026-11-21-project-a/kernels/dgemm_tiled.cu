// C = A B from square shared tiles; each thread makes ROWS values of C.
typedef double T;
extern "C" __global__ void dgemm_tiled(const T* __restrict__ a, const T* __restrict__ b, T* __restrict__ c, int n) {
  __shared__ T sa[TILE][TILE + PAD], sb[TILE][TILE + PAD];
  int x = threadIdx.x, y = threadIdx.y, col = blockIdx.x * TILE + x, row = blockIdx.y * TILE + y;
  T s[ROWS];
#pragma unroll
  for (int r = 0; r < ROWS; ++r) s[r] = 0;
  for (int k0 = 0; k0 < n; k0 += TILE) {
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
      int q = y + r * (TILE / ROWS);
      sa[q][x] = a[(size_t)(blockIdx.y * TILE + q) * n + k0 + x];
      sb[q][x] = b[(size_t)(k0 + q) * n + col];
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < TILE; ++k)
#pragma unroll
      for (int r = 0; r < ROWS; ++r) s[r] += sa[y + r * (TILE / ROWS)][k] * sb[k][x];
    __syncthreads();
  }
#pragma unroll
  for (int r = 0; r < ROWS; ++r) c[(size_t)(row + r * (TILE / ROWS)) * n + col] = s[r];
}
