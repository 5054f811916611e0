// Sums of columns: BX columns by BY rows a block, each thread a strip of rows; one atomic a column and block.
extern "C" __global__ void col_sum(const float* __restrict__ a, float* __restrict__ s, int rows, int cols) {
  __shared__ float t[BY][BX + 1];
  int x = blockIdx.x * BX + threadIdx.x, y0 = blockIdx.y * (BY * STRIP) + threadIdx.y;
  float v = 0;
#pragma unroll 4
  for (int k = 0; k < STRIP; ++k) v += a[(size_t)(y0 + k * BY) * cols + x];
  t[threadIdx.y][threadIdx.x] = v;
  __syncthreads();
  if (threadIdx.y == 0) {
    for (int k = 1; k < BY; ++k) v += t[k][threadIdx.x];
    atomicAdd(&s[x], v);
  }
}
