// Product of single-precision matrices on tensor cores (tf32), words converted on the way to registers (ROUND 1) or to shared memory (0).
#define WARPS (WY * WX)
#define LDA (BK + 4)
#define LDB (BN + 8)
__device__ __forceinline__ unsigned tf32(float x) { unsigned u; asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(u) : "f"(x)); return u; }
extern "C" __global__ void __launch_bounds__(WARPS * 32) tf32_gemm(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int N, int Kd) {
  constexpr int BM = WY * RI * 16, BN = WX * CJ * 8;
  __shared__ float as[BM * LDA];
  __shared__ float bs[BK * LDB];
  const int t = threadIdx.x, lane = t % 32, warp = t / 32, wr = warp / WX * RI * 16, wc = warp % WX * CJ * 8;
  const int g = lane / 4, q = lane % 4;
  float c[RI][CJ][4];
#pragma unroll
  for (int i = 0; i < RI; ++i)
#pragma unroll
    for (int j = 0; j < CJ; ++j)
#pragma unroll
      for (int e = 0; e < 4; ++e) c[i][j][e] = 0.0f;
  for (int k0 = 0; k0 < Kd; k0 += BK) {
    for (int e = t; e < BM * BK; e += WARPS * 32) {
      float v = A[(size_t)(blockIdx.y * BM + e / BK) * Kd + k0 + e % BK];
      as[e / BK * LDA + e % BK] = ROUND ? v : __uint_as_float(tf32(v));
    }
    for (int e = t; e < BK * BN; e += WARPS * 32) {
      float v = B[(size_t)(k0 + e / BN) * N + blockIdx.x * BN + e % BN];
      bs[e / BN * LDB + e % BN] = ROUND ? v : __uint_as_float(tf32(v));
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < BK; k += 8) {
      unsigned a[RI][4], b[CJ][2];
#pragma unroll
      for (int i = 0; i < RI; ++i)
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          float v = as[(wr + i * 16 + g + e % 2 * 8) * LDA + k + q + e / 2 * 4];
          a[i][e] = ROUND ? tf32(v) : __float_as_uint(v);
        }
#pragma unroll
      for (int j = 0; j < CJ; ++j)
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          float v = bs[(k + q + e * 4) * LDB + wc + j * 8 + g];
          b[j][e] = ROUND ? tf32(v) : __float_as_uint(v);
        }
#pragma unroll
      for (int i = 0; i < RI; ++i)
#pragma unroll
        for (int j = 0; j < CJ; ++j)
          asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};" : "+f"(c[i][j][0]), "+f"(c[i][j][1]), "+f"(c[i][j][2]), "+f"(c[i][j][3]) : "r"(a[i][0]), "r"(a[i][1]), "r"(a[i][2]), "r"(a[i][3]), "r"(b[j][0]), "r"(b[j][1]));
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < RI; ++i)
#pragma unroll
    for (int j = 0; j < CJ; ++j)
#pragma unroll
      for (int h = 0; h < 2; ++h)
        *(float2*)(C + (size_t)(blockIdx.y * BM + wr + i * 16 + h * 8 + g) * N + blockIdx.x * BN + wc + j * 8 + 2 * q) = make_float2(c[i][j][2 * h], c[i][j][2 * h + 1]);
}
