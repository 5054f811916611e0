// Sparse matrix times vector, 1 to 23 entries a row: TPR threads a row.
extern "C" __global__ void spmv_csr(const int* __restrict__ start, const int* __restrict__ col, const float* __restrict__ val, const float* __restrict__ x, float* __restrict__ y, int rows) {
  int t = blockIdx.x * BLOCK + threadIdx.x, row = t / TPR, lane = t % TPR;
  if (row >= rows) return;
  float s = 0;
  int end = start[row + 1];
#pragma unroll UNROLL
  for (int e = start[row] + lane; e < end; e += TPR) s += val[e] * x[col[e]];
#pragma unroll
  for (int d = TPR / 2; d; d >>= 1) s += __shfl_xor_sync(0xffffffffu, s, d);
  if (lane == 0) y[row] = s;
}
