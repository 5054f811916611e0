// Product of matrices of bytes on tensor cores, the second one by columns; fragments by ldmatrix (LDM) or word by word.
#define WARPS (WY * WX)
#define LDS_ (BK + PAD)
extern "C" __global__ void __launch_bounds__(WARPS * 32) igemm_mma(const unsigned char* __restrict__ A, const unsigned char* __restrict__ B, int* __restrict__ C, int N, int Kd) {
  constexpr int BM = WY * RI * 16, BN = WX * CJ * 8;
  __shared__ __align__(16) unsigned char as[BM * LDS_];
  __shared__ __align__(16) unsigned char bs[BN * LDS_];
  const int t = threadIdx.x, lane = t % 32, warp = t / 32, wr = warp / WX * RI * 16, wc = warp % WX * CJ * 8;
  const int g = lane / 4, q = lane % 4 * 4;
  int c[RI][CJ][4];
#pragma unroll
  for (int i = 0; i < RI; ++i)
#pragma unroll
    for (int j = 0; j < CJ; ++j)
#pragma unroll
      for (int e = 0; e < 4; ++e) c[i][j][e] = 0;
  for (int k0 = 0; k0 < Kd; k0 += BK) {
    for (int e = t; e < BM * BK / 16; e += WARPS * 32)
      *(uint4*)(as + e / (BK / 16) * LDS_ + e % (BK / 16) * 16) = *(const uint4*)(A + (size_t)(blockIdx.y * BM + e / (BK / 16)) * Kd + k0 + e % (BK / 16) * 16);
    for (int e = t; e < BN * BK / 16; e += WARPS * 32)
      *(uint4*)(bs + e / (BK / 16) * LDS_ + e % (BK / 16) * 16) = *(const uint4*)(B + (size_t)(blockIdx.x * BN + e / (BK / 16)) * Kd + k0 + e % (BK / 16) * 16);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < BK; k += 32) {
      unsigned a[RI][4], b[CJ][2];
#pragma unroll
      for (int i = 0; i < RI; ++i) {
#if LDM
        unsigned at = (unsigned)__cvta_generic_to_shared(as + (wr + i * 16 + lane % 16) * LDS_ + k + lane / 16 * 16);
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(a[i][0]), "=r"(a[i][1]), "=r"(a[i][2]), "=r"(a[i][3]) : "r"(at));
#else
#pragma unroll
        for (int e = 0; e < 4; ++e) a[i][e] = *(const unsigned*)(as + (wr + i * 16 + g + e % 2 * 8) * LDS_ + k + q + e / 2 * 16);
#endif
      }
#pragma unroll
      for (int j = 0; j < CJ; ++j)
#pragma unroll
        for (int e = 0; e < 2; ++e) b[j][e] = *(const unsigned*)(bs + (wc + j * 8 + g) * LDS_ + k + q + e * 16);
#pragma unroll
      for (int i = 0; i < RI; ++i)
#pragma unroll
        for (int j = 0; j < CJ; ++j)
          asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};" : "+r"(c[i][j][0]), "+r"(c[i][j][1]), "+r"(c[i][j][2]), "+r"(c[i][j][3]) : "r"(a[i][0]), "r"(a[i][1]), "r"(a[i][2]), "r"(a[i][3]), "r"(b[j][0]), "r"(b[j][1]));
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < RI; ++i)
#pragma unroll
    for (int j = 0; j < CJ; ++j)
#pragma unroll
      for (int h = 0; h < 2; ++h)
        *(int2*)(C + (size_t)(blockIdx.y * BM + wr + i * 16 + h * 8 + g) * N + blockIdx.x * BN + wc + j * 8 + lane % 4 * 2) = make_int2(c[i][j][2 * h], c[i][j][2 * h + 1]);
}
