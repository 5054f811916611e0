// C[M,N] = A[M,K] B[K,N] + R[M,N], bf16, both row-major (B is the operand with N innermost). A warp copies by TMA, WGS warpgroups multiply.
// Macros: WGS, MT tiles of 64 rows a warpgroup, BN, BK (64 or 128), STAGES, BAND rows of tiles walked together, REGS 1: setmaxnreg and a whole warpgroup for the copies,
// RTMA 1: the residual comes in and the results go out by TMA through shared memory, LAG 1: a stage is given back a step later, PER_SM (launch only; 0: a block a tile)
#include "hop.cuh"
#include "ops.cuh"
#include <cuda_bf16.h>

namespace {
constexpr int kBM = 64 * WGS * MT;
constexpr int kABytes = kBM * BK * 2, kBBytes = BN * BK * 2, kStage = kABytes + kBBytes;
constexpr int kThreads = 128 * WGS + (REGS ? 128 : 32);
constexpr int kPanel = 64 * 128;

__device__ __forceinline__ uint64_t desc_a(uint32_t a) { return (uint64_t)((a & 0x3FFFF) >> 4) | ((uint64_t)1 << 16) | ((uint64_t)(1024 >> 4) << 32) | (1ull << 62); }
__device__ __forceinline__ uint64_t desc_b(uint32_t a) { return (uint64_t)((a & 0x3FFFF) >> 4) | ((uint64_t)(BK * 128 >> 4) << 16) | ((uint64_t)(1024 >> 4) << 32) | (1ull << 62); }
__device__ __forceinline__ void tile_of(int tile, int tm, int tn, int& m, int& n) {
  const int per = BAND * tn, b = tile / per, first = b * BAND, h = min(tm - first, BAND), l = tile - b * per;
  m = first + l % h;
  n = l / h;
}
}  // namespace

extern "C" __global__ void __launch_bounds__(kThreads, 1)
nn_resid_gemm(const __grid_constant__ TMap map_a, const __grid_constant__ TMap map_b, const __grid_constant__ TMap map_r, const __grid_constant__ TMap map_c,
              const __nv_bfloat16* __restrict__ R, __nv_bfloat16* __restrict__ C, int M, int N, int K) {
  extern __shared__ __align__(1024) uint8_t smem_raw[];
  __shared__ __align__(8) uint64_t bars[2 * STAGES + WGS];
  const uint32_t smem = (sm(smem_raw) + 1023u) & ~1023u;
  const uint32_t full = sm(bars), empty = full + 8 * STAGES, rbar = empty + 8 * STAGES;
  const int tm = M / kBM, tn = N / BN, tiles = tm * tn, iters = K / BK;
  const int wg = threadIdx.x / 128;
  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; ++s) {
      bar_init(full + 8 * s, 1);
      bar_init(empty + 8 * s, WGS);
    }
    for (int w = 0; w < WGS; ++w) bar_init(rbar + 8 * w, 1);
    bar_init_done();
  }
  __syncthreads();
  if (wg == WGS) {
#if REGS
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(WGS == 3 ? 32 : 40));
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
          for (int c = 0; c < BK / 64; ++c)
#pragma unroll
            for (int r = 0; r < kBM; r += 64) tma_2d(dst + c * kBM * 128 + r * 128, &map_a, kt * BK + c * 64, m * kBM + r, full + 8 * s);
#pragma unroll
          for (int c = 0; c < BN / 64; ++c) tma_2d(dst + kABytes + c * BK * 128, &map_b, n * BN + c * 64, kt * BK, full + 8 * s);
        }
      }
    }
  } else {
#if REGS
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(WGS == 3 ? 160 : 232));
#endif
    const int lane = threadIdx.x & 31, warp = (threadIdx.x & 127) >> 5;
    const bool boss = (threadIdx.x & 127) == 0;
    const uint32_t mine = smem + STAGES * kStage + wg * 64 * BN * 2, rb = rbar + 8 * wg;
    int i = 0, loads = 0;
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
      int m, n;
      tile_of(tile, tm, tn, m, n);
      float acc[MT][BN / 2];
#if RTMA
      if (boss) {
        asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
        bar_expect(rb, 64 * BN * 2);
#pragma unroll
        for (int c = 0; c < BN / 64; ++c) tma_2d(mine + c * kPanel, &map_r, n * BN + c * 64, m * kBM + wg * MT * 64, rb);
      }
#endif
      for (int kt = 0; kt < iters; ++kt, ++i) {
        const int s = i % STAGES;
        bar_wait(full + 8 * s, (i / STAGES) & 1);
        const uint32_t a = smem + s * kStage + wg * MT * 64 * 128, b = smem + s * kStage + kABytes;
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
        for (int k = 0; k < BK / 16; ++k)
#pragma unroll
          for (int t = 0; t < MT; ++t) Wg<BN>::nn(acc[t], desc_a(a + (k / 4) * kBM * 128 + t * 64 * 128 + (k % 4) * 32), desc_b(b + k * 2048), kt | k);
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#if LAG
        asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
        if (kt > 0 && boss) bar_arrive(empty + 8 * ((i - 1) % STAGES));
#else
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
        if (boss) bar_arrive(empty + 8 * s);
#endif
      }
      asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#pragma unroll
      for (int t = 0; t < MT; ++t)
#pragma unroll
        for (int j = 0; j < BN / 2; ++j) asm volatile("" : "+f"(acc[t][j])::"memory");
#if LAG
      if (boss) bar_arrive(empty + 8 * ((i - 1) % STAGES));
#endif
#pragma unroll
      for (int t = 0; t < MT; ++t) {
        const int row = m * kBM + (wg * MT + t) * 64;
#if RTMA
        if (t > 0) {
          if (boss) {
            asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
            bar_expect(rb, 64 * BN * 2);
#pragma unroll
            for (int c = 0; c < BN / 64; ++c) tma_2d(mine + c * kPanel, &map_r, n * BN + c * 64, row, rb);
          }
        }
        bar_wait(rb, loads++ & 1);
#pragma unroll
        for (int j = 0; j < BN / 16; ++j) {
          const int r = warp * 16 + (lane & 15), chunk = (2 * j + (lane >> 4)) & 7;
          const uint32_t at = mine + (j / 4) * kPanel + r * 128 + ((chunk ^ (r & 7)) << 4);
          uint32_t v[4];
          asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3]) : "r"(at) : "memory");
#pragma unroll
          for (int h = 0; h < 4; ++h) {
            const float2 f = __bfloat1622float2(*reinterpret_cast<__nv_bfloat162*>(&v[h]));
            const float* q = acc[t] + 8 * j + 2 * h;
            const __nv_bfloat162 o = __floats2bfloat162_rn(q[0] + f.x, q[1] + f.y);
            v[h] = *reinterpret_cast<const uint32_t*>(&o);
          }
          asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(at), "r"(v[0]), "r"(v[1]), "r"(v[2]), "r"(v[3]) : "memory");
        }
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        asm volatile("bar.sync %0, 128;" ::"r"(wg + 1) : "memory");
        if (boss) {
#pragma unroll
          for (int c = 0; c < BN / 64; ++c)
            asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%2, %3}], [%1];" ::"l"(&map_c), "r"(mine + c * kPanel), "r"(n * BN + c * 64), "r"(row) : "memory");
          asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        }
#else
        const size_t at = (size_t)(row + warp * 16 + (lane >> 2)) * N + n * BN + (lane & 3) * 2;
#pragma unroll
        for (int j = 0; j < BN / 8; ++j)
#pragma unroll
          for (int h = 0; h < 2; ++h) {
            const size_t p = at + (size_t)h * 8 * N + j * 8;
            const float2 f = __bfloat1622float2(*reinterpret_cast<const __nv_bfloat162*>(R + p));
            *reinterpret_cast<__nv_bfloat162*>(C + p) = __floats2bfloat162_rn(acc[t][4 * j + 2 * h] + f.x, acc[t][4 * j + 2 * h + 1] + f.y);
          }
#endif
      }
    }
#if RTMA
    if (boss) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
#endif
  }
}
