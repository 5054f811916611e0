// A tile of Needleman and Wunsch's alignment matrix, a thread a column, diagonal after diagonal in shared memory; halves of the tile's borders come from arrays of their own.
extern "C" __global__ void nw_tile(const int* __restrict__ reference, const int* __restrict__ north, const int* __restrict__ west, int* __restrict__ out, int n, int penalty) {
  __shared__ int m[TILE + 1][TILE + 1 + PAD];
#if STAGE
  __shared__ int ref[TILE][TILE + PAD];
#endif
  int tx = threadIdx.x, row0 = blockIdx.y * TILE, col0 = blockIdx.x * TILE;
#if STAGE
#pragma unroll 8
  for (int i = 0; i < TILE; ++i) ref[i][tx] = reference[(row0 + i) * n + col0 + tx];
#endif
  m[0][tx + 1] = north[blockIdx.y * n + col0 + tx];
  m[tx + 1][0] = west[blockIdx.x * n + row0 + tx];
  if (tx == 0) m[0][0] = north[blockIdx.y * n + col0] - penalty;
  __syncthreads();
  for (int d = 0; d < 2 * TILE - 1; ++d) {
    int i = d - tx;
    if (i >= 0 && i < TILE) {
#if STAGE
      int r = ref[i][tx];
#else
      int r = reference[(row0 + i) * n + col0 + tx];
#endif
      m[i + 1][tx + 1] = max(m[i][tx] + r, max(m[i + 1][tx] - penalty, m[i][tx + 1] - penalty));
    }
    __syncthreads();
  }
#pragma unroll 8
  for (int i = 0; i < TILE; ++i) out[(row0 + i) * n + col0 + tx] = m[i + 1][tx + 1];
}
