// Sparse matrix times vector, 16 entries a row: TPR threads a row, entries column-major if SOA.
#define NNZ 16
extern "C" __global__ void spmv_ell(const int* __restrict__ col, const float* __restrict__ val, const float* __restrict__ x, float* __restrict__ y, int rows) {
  int t = blockIdx.x * BLOCK + threadIdx.x, row = t / TPR, lane = t % TPR;
  if (row >= rows) return;
  float s = 0;
#pragma unroll
  for (int k = lane; k < NNZ; k += TPR) {
#if SOA
    size_t e = (size_t)k * rows + row;
#else
    size_t e = (size_t)row * NNZ + k;
#endif
    s += val[e] * x[col[e]];
  }
#pragma unroll
  for (int d = TPR / 2; d; d >>= 1) s += __shfl_xor_sync(0xffffffffu, s, d);
  if (lane == 0) y[row] = s;
}
