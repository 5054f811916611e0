// Each of many matrices transposed by a tile of shared memory; words of four bytes or of two (HALF).
#if HALF
typedef unsigned short word;
#else
typedef unsigned word;
#endif
extern "C" __global__ void permute_021(const word* __restrict__ x, word* __restrict__ y, int h, int w) {
  __shared__ word tile[TILE][TILE + PAD];
  size_t base = (size_t)blockIdx.z * h * w;
#pragma unroll
  for (int j = 0; j < TILE; j += BY)
#pragma unroll
    for (int i = 0; i < TILE; i += BX) {
      int r = blockIdx.y * TILE + threadIdx.y + j, c = blockIdx.x * TILE + threadIdx.x + i;
      if (r < h && c < w) tile[threadIdx.y + j][threadIdx.x + i] = x[base + (size_t)r * w + c];
    }
  __syncthreads();
#pragma unroll
  for (int j = 0; j < TILE; j += BY)
#pragma unroll
    for (int i = 0; i < TILE; i += BX) {
      int r = blockIdx.x * TILE + threadIdx.y + j, c = blockIdx.y * TILE + threadIdx.x + i;
      if (r < w && c < h) y[base + (size_t)r * h + c] = tile[threadIdx.x + i][threadIdx.y + j];
    }
}
