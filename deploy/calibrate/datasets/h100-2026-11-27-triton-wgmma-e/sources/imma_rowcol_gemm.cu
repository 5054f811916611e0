// C[M,N] = sa[m] sb[n] A[M,K] B[N,K]^T, int8 in, fp16 out: mma.sync m16n8k32, ldmatrix, cp.async ring; M need not divide.
// Macros: BM, BN, BK (bytes: 64 or 128), WM x WN warps, STAGES, MINB, SWZ 1: chunks of 16 bytes swizzled (0: rows padded by 16 bytes), DBUF 1: fragments of the next k are loaded ahead, GROUP rows of tiles walked together
#include <cstdint>
#include <cuda_fp16.h>
namespace {
constexpr int THREADS = 32 * WM * WN, TM = BM / WM, TN = BN / WN, MI = TM / 16, NI = TN / 8;
constexpr int PITCH = SWZ ? BK : BK + 16, SA = BM * PITCH, SB = BN * PITCH, STAGE = SA + SB, KS = BK / 32;

__device__ __forceinline__ void cp16(uint32_t dst, const void* src, int bytes) { asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(dst), "l"(src), "r"(bytes) : "memory"); }
__device__ __forceinline__ uint32_t at(int r, int c) {
  if (!SWZ) return r * PITCH + c * 16;
  return r * PITCH + ((BK == 128 ? c ^ (r & 7) : c ^ ((r >> 1) & 3)) << 4);
}
__device__ __forceinline__ void ldm(uint32_t (&v)[4], uint32_t a) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3]) : "r"(a));
}
__device__ __forceinline__ void mma(int (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
}  // namespace

extern "C" __global__ void __launch_bounds__(THREADS, MINB)
imma_rowcol_gemm(const int8_t* __restrict__ A, const int8_t* __restrict__ B, const float* __restrict__ sa, const float* __restrict__ sb, __half* __restrict__ C, int M, int N, int K) {
  extern __shared__ __align__(128) uint8_t smem[];
  const int tn = N / BN, tm = (M + BM - 1) / BM, per = GROUP * tn, band = blockIdx.x / per, first = band * GROUP, h = min(tm - first, GROUP), l = blockIdx.x - band * per;
  const int m0 = (first + l % h) * BM, n0 = l / h * BN;
  const int tid = threadIdx.x, lane = tid & 31, warp = tid >> 5, wm = warp / WN, wn = warp % WN;
  const uint32_t base = (uint32_t)__cvta_generic_to_shared(smem);
  const int iters = K / BK;
  auto fetch = [&](int i) {
    if (i < iters) {
      const uint32_t a = base + (i % STAGES) * STAGE, b = a + SA;
#pragma unroll
      for (int j = tid; j < BM * BK / 16; j += THREADS) {
        const int r = j / (BK / 16), c = j % (BK / 16);
        const bool live = m0 + r < M;
        cp16(a + at(r, c), A + (size_t)(live ? m0 + r : 0) * K + i * BK + c * 16, live ? 16 : 0);
      }
#pragma unroll
      for (int j = tid; j < BN * BK / 16; j += THREADS) {
        const int r = j / (BK / 16), c = j % (BK / 16);
        cp16(b + at(r, c), B + (size_t)(n0 + r) * K + i * BK + c * 16, 16);
      }
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
  };
  int acc[MI][NI][4] = {};
  uint32_t fa[1 + DBUF][MI][4], fb[1 + DBUF][NI / 2][4];
  auto frags = [&](int buf, uint32_t stage, int k) {
#pragma unroll
    for (int x = 0; x < MI; ++x) ldm(fa[buf][x], stage + at(wm * TM + x * 16 + (lane & 15), 2 * k + (lane >> 4)));
#pragma unroll
    for (int y = 0; y < NI / 2; ++y) ldm(fb[buf][y], stage + SA + at(wn * TN + y * 16 + (lane & 7) + ((lane >> 4) << 3), 2 * k + ((lane >> 3) & 1)));
  };
  auto product = [&](int buf) {
#pragma unroll
    for (int y = 0; y < NI; ++y)
#pragma unroll
      for (int x = 0; x < MI; ++x) mma(acc[x][y], fa[buf][x], fb[buf][y / 2][2 * (y & 1)], fb[buf][y / 2][2 * (y & 1) + 1]);
  };
#pragma unroll
  for (int i = 0; i < STAGES - 1; ++i) fetch(i);
  for (int i = 0; i < iters; ++i) {
    asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
    __syncthreads();
    const uint32_t stage = base + (i % STAGES) * STAGE;
#if DBUF
    frags(0, stage, 0);
    fetch(i + STAGES - 1);
#pragma unroll
    for (int k = 0; k < KS; ++k) {
      if (k + 1 < KS) frags((k + 1) & 1, stage, k + 1);
      product(k & 1);
    }
#else
    fetch(i + STAGES - 1);
#pragma unroll
    for (int k = 0; k < KS; ++k) {
      frags(0, stage, k);
      product(0);
    }
#endif
  }
#pragma unroll
  for (int x = 0; x < MI; ++x)
#pragma unroll
    for (int hh = 0; hh < 2; ++hh) {
      const int r = m0 + wm * TM + x * 16 + (lane >> 2) + 8 * hh;
      if (r < M) {
        const float s = sa[r];
#pragma unroll
        for (int y = 0; y < NI; ++y) {
          const int c = n0 + wn * TN + y * 8 + (lane & 3) * 2;
          const float2 t = *reinterpret_cast<const float2*>(sb + c);
          *reinterpret_cast<__half2*>(C + (size_t)r * N + c) = __floats2half2_rn(s * t.x * (float)acc[x][y][2 * hh], s * t.y * (float)acc[x][y][2 * hh + 1]);
        }
      }
    }
}
