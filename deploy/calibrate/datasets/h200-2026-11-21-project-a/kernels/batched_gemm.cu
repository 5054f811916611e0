// C = A B for many 16x16 matrices: MATS a block, ROWS rows of C a thread.
extern "C" __global__ void batched_gemm(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c) {
  __shared__ float sa[MATS][16][16 + PAD], sb[MATS][16][16 + PAD];
  int x = threadIdx.x, y = threadIdx.y, m = threadIdx.z;
  size_t base = ((size_t)blockIdx.x * MATS + m) * 256;
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    int q = y + r * (16 / ROWS);
    sa[m][q][x] = a[base + q * 16 + x];
    sb[m][q][x] = b[base + q * 16 + x];
  }
  __syncthreads();
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    int q = y + r * (16 / ROWS);
    float s = 0;
#pragma unroll
    for (int k = 0; k < 16; ++k) s += sa[m][q][k] * sb[m][k][x];
    c[base + q * 16 + x] = s;
  }
}
