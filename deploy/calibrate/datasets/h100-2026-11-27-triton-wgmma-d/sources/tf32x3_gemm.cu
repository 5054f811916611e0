// C[M,N] = A[M,K] B[K,N], float by three tf32 products (big*big + big*small + small*big), mma.sync m16n8k8, cp.async pipeline; M need not divide.
// Macros: BM, BN, BK, WM x WN warps, STAGES, MINB blocks a multiprocessor at least, NFAST 1: neighbouring blocks go along N, VEC16 0: copies of 4 bytes for B
#include <cstdint>
namespace {
constexpr int THREADS = 32 * WM * WN, TM = BM / WM, TN = BN / WN, MI = TM / 16, NI = TN / 8;
constexpr int PA = BK + 4, PB = BN + 8, SA = BM * PA, SB = BK * PB, STAGE = SA + SB;

__device__ __forceinline__ void cp16(uint32_t dst, const float* src, int bytes) { asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(dst), "l"(src), "r"(bytes) : "memory"); }
__device__ __forceinline__ void cp4(uint32_t dst, const float* src) { asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(dst), "l"(src) : "memory"); }
__device__ __forceinline__ void split(float x, uint32_t& big, uint32_t& small) {
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(big) : "f"(x));
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(small) : "f"(x - __uint_as_float(big)));
}
__device__ __forceinline__ void mma(float (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
}  // namespace

extern "C" __global__ void __launch_bounds__(THREADS, MINB)
tf32x3_gemm(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int M, int N, int K) {
  extern __shared__ __align__(16) float smem[];
  const int m0 = (NFAST ? blockIdx.y : blockIdx.x) * BM, n0 = (NFAST ? blockIdx.x : blockIdx.y) * BN;
  const int tid = threadIdx.x, lane = tid & 31, warp = tid >> 5, wm = warp / WN, wn = warp % WN, g = lane >> 2, c4 = lane & 3;
  const uint32_t base = (uint32_t)__cvta_generic_to_shared(smem);
  const int iters = K / BK;
  auto fetch = [&](int i) {
    if (i < iters) {
      const uint32_t a = base + (i % STAGES) * STAGE * 4, b = a + SA * 4;
#pragma unroll
      for (int j = tid; j < BM * BK / 4; j += THREADS) {
        const int r = j / (BK / 4), c = j % (BK / 4) * 4;
        const bool live = m0 + r < M;
        cp16(a + (r * PA + c) * 4, A + (size_t)(live ? m0 + r : 0) * K + i * BK + c, live ? 16 : 0);
      }
#if VEC16
#pragma unroll
      for (int j = tid; j < BK * BN / 4; j += THREADS) {
        const int r = j / (BN / 4), c = j % (BN / 4) * 4;
        cp16(b + (r * PB + c) * 4, B + (size_t)(i * BK + r) * N + n0 + c, 16);
      }
#else
#pragma unroll 4
      for (int j = tid; j < BK * BN; j += THREADS) cp4(b + (j / BN * PB + j % BN) * 4, B + (size_t)(i * BK + j / BN) * N + n0 + j % BN);
#endif
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
  };
  float acc[MI][NI][4] = {};
#pragma unroll
  for (int i = 0; i < STAGES - 1; ++i) fetch(i);
  for (int i = 0; i < iters; ++i) {
    asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
    __syncthreads();
    fetch(i + STAGES - 1);
    const float* a = smem + (i % STAGES) * STAGE + (wm * TM + g) * PA + c4;
    const float* b = smem + (i % STAGES) * STAGE + SA + c4 * PB + wn * TN + g;
#pragma unroll
    for (int k = 0; k < BK; k += 8) {
      uint32_t ab[MI][4], as[MI][4];
#pragma unroll
      for (int x = 0; x < MI; ++x) {
        const float* p = a + x * 16 * PA + k;
        split(p[0], ab[x][0], as[x][0]);
        split(p[8 * PA], ab[x][1], as[x][1]);
        split(p[4], ab[x][2], as[x][2]);
        split(p[8 * PA + 4], ab[x][3], as[x][3]);
      }
#pragma unroll
      for (int y = 0; y < NI; ++y) {
        uint32_t bb[2], bs[2];
        split(b[k * PB + y * 8], bb[0], bs[0]);
        split(b[(k + 4) * PB + y * 8], bb[1], bs[1]);
#pragma unroll
        for (int x = 0; x < MI; ++x) {
          mma(acc[x][y], as[x], bb);
          mma(acc[x][y], ab[x], bs);
          mma(acc[x][y], ab[x], bb);
        }
      }
    }
  }
#pragma unroll
  for (int x = 0; x < MI; ++x)
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int r = m0 + wm * TM + x * 16 + g + 8 * h;
      if (r < M)
#pragma unroll
        for (int y = 0; y < NI; ++y)
          *reinterpret_cast<float2*>(C + (size_t)r * N + n0 + wn * TN + y * 8 + c4 * 2) = make_float2(acc[x][y][2 * h], acc[x][y][2 * h + 1]);
    }
}
