// Overlap of two sets of uncertain points in double precision: TX by TY pairs a thread, a tree in shared memory, one atomic a block.
extern "C" __global__ void expdist(const double2* __restrict__ a, const double2* __restrict__ b, const double* __restrict__ sa, const double* __restrict__ sb, double* __restrict__ total, int n, int m) {
  __shared__ double t[BX * BY];
  int i0 = blockIdx.x * (BX * TX) + threadIdx.x, j0 = blockIdx.y * (BY * TY) + threadIdx.y;
  double sum = 0;
#pragma unroll
  for (int p = 0; p < TX; ++p) {
    int i = i0 + p * BX;
    if (i >= n) continue;
    double2 x = a[i];
    double s = sa[i];
#pragma unroll
    for (int q = 0; q < TY; ++q) {
      int j = j0 + q * BY;
      if (j >= m) continue;
      double2 y = b[j];
      double dx = x.x - y.x, dy = x.y - y.y;
      sum += exp(-(dx * dx + dy * dy) / (s + sb[j] + 0.01));
    }
  }
  int at = threadIdx.y * BX + threadIdx.x;
  t[at] = sum;
  __syncthreads();
  for (int d = BX * BY / 2; d; d >>= 1) {
    if (at < d) t[at] += t[at + d];
    __syncthreads();
  }
  if (at == 0) atomicAdd(total, t[0]);
}
