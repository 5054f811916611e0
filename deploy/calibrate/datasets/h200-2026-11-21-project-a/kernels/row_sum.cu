// Sums of rows: a block a row, ILP partial sums a thread, tree in shared memory.
extern "C" __global__ void row_sum(const float* __restrict__ a, float* __restrict__ s, int cols) {
  __shared__ float t[BLOCK];
  const float* r = a + (size_t)blockIdx.x * cols;
  float p[ILP];
#pragma unroll
  for (int k = 0; k < ILP; ++k) p[k] = 0;
  for (int c = threadIdx.x; c < cols; c += BLOCK * ILP)
#pragma unroll
    for (int k = 0; k < ILP; ++k)
      if (c + k * BLOCK < cols) p[k] += r[c + k * BLOCK];
#pragma unroll
  for (int k = 1; k < ILP; ++k) p[0] += p[k];
  t[threadIdx.x] = p[0];
  __syncthreads();
  for (int d = BLOCK / 2; d; d >>= 1) {
    if (threadIdx.x < d) t[threadIdx.x] += t[threadIdx.x + d];
    __syncthreads();
  }
  if (threadIdx.x == 0) s[blockIdx.x] = t[0];
}
