// Product of matrices of halves on tensor cores: tiles in shared memory by cp.async, STAGES of them under way,
// fragments by ldmatrix; a warp has WM rows and WN columns.
#include <cuda_fp16.h>
#define WARPS ((BM / WM) * (BN / WN))
#define LDA (BK + PAD)
#define LDB (BN + PAD)
__device__ __forceinline__ void copy16(unsigned to, const void* from) { asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from)); }
extern "C" __global__ void __launch_bounds__(WARPS * 32) mma_gemm(const __half* __restrict__ A, const __half* __restrict__ B, float* __restrict__ C, int N, int Kd) {
  extern __shared__ __align__(16) __half tile[];
  const int t = threadIdx.x, lane = t % 32, warp = t / 32, wr = warp / (BN / WN) * WM, wc = warp % (BN / WN) * WN;
  unsigned base = (unsigned)__cvta_generic_to_shared(tile);
  const __half* a0 = A + (size_t)blockIdx.y * BM * Kd;
  const __half* b0 = B + (size_t)blockIdx.x * BN;
  float c[WM / 16][WN / 8][4];
#pragma unroll
  for (int i = 0; i < WM / 16; ++i)
#pragma unroll
    for (int j = 0; j < WN / 8; ++j)
#pragma unroll
      for (int e = 0; e < 4; ++e) c[i][j][e] = 0.0f;
  auto fetch = [&](int k0, int stage) {
    unsigned as = base + stage * (BM * LDA + BK * LDB) * 2, bs = as + BM * LDA * 2;
#pragma unroll
    for (int e = t; e < BM * BK / 8; e += WARPS * 32) copy16(as + (e / (BK / 8) * LDA + e % (BK / 8) * 8) * 2, a0 + (size_t)(e / (BK / 8)) * Kd + k0 + e % (BK / 8) * 8);
#pragma unroll
    for (int e = t; e < BK * BN / 8; e += WARPS * 32) copy16(bs + (e / (BN / 8) * LDB + e % (BN / 8) * 8) * 2, b0 + (size_t)(k0 + e / (BN / 8)) * N + e % (BN / 8) * 8);
    asm volatile("cp.async.commit_group;");
  };
#pragma unroll
  for (int s = 0; s < STAGES - 1; ++s) fetch(s * BK, s);
  int stage = 0;
  for (int k0 = 0; k0 < Kd; k0 += BK) {
    asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2));
    __syncthreads();
    int ahead = k0 + (STAGES - 1) * BK, into = stage + STAGES - 1;
    if (into >= STAGES) into -= STAGES;
    if (ahead < Kd) fetch(ahead, into);
    else asm volatile("cp.async.commit_group;");
    unsigned as = base + stage * (BM * LDA + BK * LDB) * 2, bs = as + BM * LDA * 2;
#pragma unroll
    for (int k = 0; k < BK; k += 16) {
      unsigned a[WM / 16][4], b[WN / 8][2];
#pragma unroll
      for (int i = 0; i < WM / 16; ++i)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(a[i][0]), "=r"(a[i][1]), "=r"(a[i][2]), "=r"(a[i][3]) : "r"(as + ((wr + i * 16 + lane % 16) * LDA + k + lane / 16 * 8) * 2));
#pragma unroll
      for (int j = 0; j < WN / 8; j += 2)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(b[j][0]), "=r"(b[j][1]), "=r"(b[j + 1][0]), "=r"(b[j + 1][1]) : "r"(bs + ((k + lane % 16) * LDB + wc + j * 8 + lane / 16 * 8) * 2));
#pragma unroll
      for (int i = 0; i < WM / 16; ++i)
#pragma unroll
        for (int j = 0; j < WN / 8; ++j)
          asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};" : "+f"(c[i][j][0]), "+f"(c[i][j][1]), "+f"(c[i][j][2]), "+f"(c[i][j][3]) : "r"(a[i][0]), "r"(a[i][1]), "r"(a[i][2]), "r"(a[i][3]), "r"(b[j][0]), "r"(b[j][1]));
    }
    if (++stage == STAGES) stage = 0;
  }
#pragma unroll
  for (int i = 0; i < WM / 16; ++i)
#pragma unroll
    for (int j = 0; j < WN / 8; ++j)
#pragma unroll
      for (int h = 0; h < 2; ++h)
        *(float2*)(C + (size_t)(blockIdx.y * BM + wr + i * 16 + h * 8 + lane / 4) * N + blockIdx.x * BN + wc + j * 8 + lane % 4 * 2) = make_float2(c[i][j][2 * h], c[i][j][2 * h + 1]);
}
