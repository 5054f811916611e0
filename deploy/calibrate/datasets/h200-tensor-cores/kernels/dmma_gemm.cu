// Product of matrices of doubles on tensor cores, tiles in shared memory.
#define WARPS (WY * WX)
#define LDA (BK + 2)
#define LDB (BN + 4)
extern "C" __global__ void __launch_bounds__(WARPS * 32) dmma_gemm(const double* __restrict__ A, const double* __restrict__ B, double* __restrict__ C, int N, int Kd) {
  constexpr int BM = WY * RI * 8, BN = WX * CJ * 8;
  __shared__ double as[BM * LDA];
  __shared__ double bs[BK * LDB];
  const int t = threadIdx.x, lane = t % 32, warp = t / 32, wr = warp / WX * RI * 8, wc = warp % WX * CJ * 8;
  double c[RI][CJ][2];
#pragma unroll
  for (int i = 0; i < RI; ++i)
#pragma unroll
    for (int j = 0; j < CJ; ++j) c[i][j][0] = c[i][j][1] = 0.0;
  for (int k0 = 0; k0 < Kd; k0 += BK) {
    for (int e = t; e < BM * BK; e += WARPS * 32) as[e / BK * LDA + e % BK] = A[(size_t)(blockIdx.y * BM + e / BK) * Kd + k0 + e % BK];
    for (int e = t; e < BK * BN; e += WARPS * 32) bs[e / BN * LDB + e % BN] = B[(size_t)(k0 + e / BN) * N + blockIdx.x * BN + e % BN];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < BK; k += 4) {
      double a[RI], b[CJ];
#pragma unroll
      for (int i = 0; i < RI; ++i) a[i] = as[(wr + i * 8 + lane / 4) * LDA + k + lane % 4];
#pragma unroll
      for (int j = 0; j < CJ; ++j) b[j] = bs[(k + lane % 4) * LDB + wc + j * 8 + lane / 4];
#pragma unroll
      for (int i = 0; i < RI; ++i)
#pragma unroll
        for (int j = 0; j < CJ; ++j)
          asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};" : "+d"(c[i][j][0]), "+d"(c[i][j][1]) : "d"(a[i]), "d"(b[j]));
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < RI; ++i)
#pragma unroll
    for (int j = 0; j < CJ; ++j) *(double2*)(C + (size_t)(blockIdx.y * BM + wr + i * 8 + lane / 4) * N + blockIdx.x * BN + wc + j * 8 + lane % 4 * 2) = make_double2(c[i][j][0], c[i][j][1]);
}
