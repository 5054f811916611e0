// C[M,N] = silu(sa * sb * A[M,K] B[N,K]^T + bias), e4m3 in, bf16 out. A warpgroup copies by TMA, WGS warpgroups multiply; blocks stay and walk over tiles.
// Macros: WGS, MT tiles of 64 rows a warpgroup, BN, BK (bytes of K a stage: 64 or 128), STAGES, BAND rows of tiles walked together, REGS 1: setmaxnreg,
// TMAST 1: results leave through shared memory by TMA, PER_SM blocks a multiprocessor (0: a block a tile; launch only)
#include "hop.cuh"
#include "ops.cuh"
#include <cuda_bf16.h>

namespace {
constexpr int kBM = 64 * WGS * MT;
constexpr int kABytes = kBM * BK, kBBytes = BN * BK, kStage = kABytes + kBBytes;
constexpr int kThreads = 128 * (WGS + 1);
constexpr int kOut = TMAST ? WGS * 64 * BN * 2 : 0;

__device__ __forceinline__ uint64_t make_desc(uint32_t a) {
  return (uint64_t)((a & 0x3FFFF) >> 4) | ((uint64_t)1 << 16) | ((uint64_t)(8 * BK >> 4) << 32) | ((uint64_t)(BK == 128 ? 1 : 2) << 62);
}
__device__ __forceinline__ void tile_of(int tile, int tm, int tn, int& m, int& n) {
  const int per = BAND * tn, b = tile / per, first = b * BAND, h = min(tm - first, BAND), l = tile - b * per;
  m = first + l % h;
  n = l / h;
}
__device__ __forceinline__ float silu(float x) { return __fdividef(x, 1.f + __expf(-x)); }
}  // namespace

extern "C" __global__ void __launch_bounds__(kThreads, 1)
fp8_ws_gemm(const __grid_constant__ TMap map_a, const __grid_constant__ TMap map_b, const __grid_constant__ TMap map_c, const float* __restrict__ scales,
            const float* __restrict__ bias, __nv_bfloat16* __restrict__ C, int M, int N, int K) {
  extern __shared__ __align__(1024) uint8_t smem_raw[];
  __shared__ __align__(8) uint64_t bars[2 * STAGES];
  const uint32_t smem = (sm(smem_raw) + 1023u) & ~1023u;
  const uint32_t full = sm(bars), empty = full + 8 * STAGES;
  const int tm = M / kBM, tn = N / BN, tiles = tm * tn, iters = K / BK;
  const int wg = threadIdx.x / 128;
  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; ++s) {
      bar_init(full + 8 * s, 1);
      bar_init(empty + 8 * s, WGS);
    }
    bar_init_done();
  }
  __syncthreads();
  if (wg == WGS) {
#if REGS
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
#endif
    if (threadIdx.x == 128 * WGS) {
      int i = 0;
      for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        int m, n;
        tile_of(tile, tm, tn, m, n);
        for (int kt = 0; kt < iters; ++kt, ++i) {
          const int s = i % STAGES;
          if (i >= STAGES) bar_wait(empty + 8 * s, (i / STAGES - 1) & 1);
          bar_expect(full + 8 * s, kStage);
          const uint32_t dst = smem + s * kStage;
#pragma unroll
          for (int r = 0; r < kBM; r += 64) tma_2d(dst + r * BK, &map_a, kt * BK, m * kBM + r, full + 8 * s);
#pragma unroll
          for (int r = 0; r < BN; r += 64) tma_2d(dst + kABytes + r * BK, &map_b, kt * BK, n * BN + r, full + 8 * s);
        }
      }
    }
  } else {
#if REGS
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
#endif
    const float scale = scales[0] * scales[1];
    const int lane = threadIdx.x & 31, warp = (threadIdx.x & 127) >> 5;
    int i = 0;
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
      int m, n;
      tile_of(tile, tm, tn, m, n);
      float acc[MT][BN / 2];
      for (int kt = 0; kt < iters; ++kt, ++i) {
        const int s = i % STAGES;
        bar_wait(full + 8 * s, (i / STAGES) & 1);
        const uint32_t a = smem + s * kStage + wg * MT * 64 * BK, b = smem + s * kStage + kABytes;
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
        for (int k = 0; k < BK / 32; ++k)
#pragma unroll
          for (int t = 0; t < MT; ++t) Wg<BN>::e4m3(acc[t], make_desc(a + t * 64 * BK + k * 32), make_desc(b + k * 32), kt | k);
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
        if (kt > 0 && (threadIdx.x & 127) == 0) bar_arrive(empty + 8 * ((i - 1) % STAGES));
      }
      asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#pragma unroll
      for (int t = 0; t < MT; ++t)
#pragma unroll
        for (int j = 0; j < BN / 2; ++j) asm volatile("" : "+f"(acc[t][j])::"memory");
      if ((threadIdx.x & 127) == 0) bar_arrive(empty + 8 * ((i - 1) % STAGES));
#pragma unroll
      for (int t = 0; t < MT; ++t) {
        const int row = m * kBM + (wg * MT + t) * 64;
#if TMAST
        const uint32_t mine = smem + STAGES * kStage + wg * 64 * BN * 2;
        if ((threadIdx.x & 127) == 0) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
        asm volatile("bar.sync %0, 128;" ::"r"(wg + 1) : "memory");
#pragma unroll
        for (int j = 0; j < BN / 16; ++j) {
          uint32_t v[4];
#pragma unroll
          for (int h = 0; h < 2; ++h) {
            const float2 bv = *reinterpret_cast<const float2*>(bias + n * BN + (2 * j + h) * 8 + (lane & 3) * 2);
            const float* q = acc[t] + 4 * (2 * j + h);
            const __nv_bfloat162 lo = __floats2bfloat162_rn(silu(q[0] * scale + bv.x), silu(q[1] * scale + bv.y));
            const __nv_bfloat162 hi = __floats2bfloat162_rn(silu(q[2] * scale + bv.x), silu(q[3] * scale + bv.y));
            v[2 * h] = *reinterpret_cast<const uint32_t*>(&lo);
            v[2 * h + 1] = *reinterpret_cast<const uint32_t*>(&hi);
          }
          const int r = warp * 16 + (lane & 15), chunk = (2 * j + (lane >> 4)) & 7;
          const uint32_t at = mine + (j / 4) * 8192 + r * 128 + ((chunk ^ (r & 7)) << 4);
          asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(at), "r"(v[0]), "r"(v[1]), "r"(v[2]), "r"(v[3]) : "memory");
        }
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        asm volatile("bar.sync %0, 128;" ::"r"(wg + 1) : "memory");
        if ((threadIdx.x & 127) == 0) {
#pragma unroll
          for (int c = 0; c < BN / 64; ++c)
            asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%2, %3}], [%1];" ::"l"(&map_c), "r"(mine + c * 8192), "r"(n * BN + c * 64), "r"(row) : "memory");
          asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        }
#else
        __nv_bfloat16* p = C + (size_t)(row + warp * 16 + (lane >> 2)) * N + n * BN + (lane & 3) * 2;
#pragma unroll
        for (int j = 0; j < BN / 8; ++j) {
          const float2 bv = *reinterpret_cast<const float2*>(bias + n * BN + j * 8 + (lane & 3) * 2);
          const float* q = acc[t] + 4 * j;
          *reinterpret_cast<__nv_bfloat162*>(p + j * 8) = __floats2bfloat162_rn(silu(q[0] * scale + bv.x), silu(q[1] * scale + bv.y));
          *reinterpret_cast<__nv_bfloat162*>(p + (size_t)8 * N + j * 8) = __floats2bfloat162_rn(silu(q[2] * scale + bv.x), silu(q[3] * scale + bv.y));
        }
#endif
      }
    }
#if TMAST
    if ((threadIdx.x & 127) == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
#endif
  }
}
