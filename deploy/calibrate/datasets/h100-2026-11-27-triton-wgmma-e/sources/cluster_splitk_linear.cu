// Y[64,N] = X[64,K] W[N,K]^T + bias, bf16, few tokens: the weights' rows are wgmma's M, a cluster of CS blocks shares K, sums meet in distributed shared memory.
// Macros: WGS warpgroups of 64 weights' rows, CS, BK (64 or 128), STAGES, HINT 1: weights with an evict-first policy, VR floats a remote load (1, 2, 4)
#include "hop.cuh"
#include "ops.cuh"
#include <cuda_bf16.h>

namespace {
constexpr int kBN = 64 * WGS, kA = kBN * BK * 2, kB = 64 * BK * 2, kStage = kA + kB, kThreads = 128 * WGS + 32, kPitch = kBN + 4, kShare = 64 / CS;
__device__ __forceinline__ uint64_t desc_k(uint32_t a) { return (uint64_t)((a & 0x3FFFF) >> 4) | ((uint64_t)1 << 16) | ((uint64_t)(1024 >> 4) << 32) | (1ull << 62); }
__device__ __forceinline__ void tma_2d_hint(uint32_t dst, const TMap* m, int x, int y, uint32_t b, uint64_t policy) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(dst), "l"(m), "r"(x), "r"(y), "r"(b), "l"(policy) : "memory");
}
__device__ __forceinline__ uint32_t peer(uint32_t a, int cta) { uint32_t r; asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(cta)); return r; }
}  // namespace

extern "C" __global__ void __cluster_dims__(CS, 1, 1) __launch_bounds__(kThreads)
cluster_splitk_linear(const __grid_constant__ TMap map_w, const __grid_constant__ TMap map_x, const __nv_bfloat16* __restrict__ bias, __nv_bfloat16* __restrict__ Y, int N, int K) {
  extern __shared__ __align__(1024) uint8_t smem_raw[];
  __shared__ __align__(8) uint64_t bars[2 * STAGES];
  const uint32_t smem = (sm(smem_raw) + 1023u) & ~1023u, full = sm(bars), empty = full + 8 * STAGES;
  const int rank = blockIdx.x % CS, n0 = blockIdx.x / CS * kBN, iters = K / BK / CS, k0 = rank * iters * BK, wg = threadIdx.x / 128;
  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; ++s) {
      bar_init(full + 8 * s, 1);
      bar_init(empty + 8 * s, WGS);
    }
    bar_init_done();
  }
  __syncthreads();
  if (wg == WGS) {
    if (threadIdx.x == 128 * WGS) {
#if HINT
      uint64_t policy;
      asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
#endif
      for (int i = 0; i < iters; ++i) {
        const int s = i % STAGES;
        if (i >= STAGES) bar_wait(empty + 8 * s, (i / STAGES - 1) & 1);
        bar_expect(full + 8 * s, kStage);
        const uint32_t dst = smem + s * kStage;
#pragma unroll
        for (int c = 0; c < BK / 64; ++c) {
#if HINT
          tma_2d_hint(dst + c * kBN * 128, &map_w, k0 + i * BK + c * 64, n0, full + 8 * s, policy);
#else
          tma_2d(dst + c * kBN * 128, &map_w, k0 + i * BK + c * 64, n0, full + 8 * s);
#endif
          tma_2d(dst + kA + c * 8192, &map_x, k0 + i * BK + c * 64, 0, full + 8 * s);
        }
      }
    }
  } else {
    float acc[32];
    for (int i = 0; i < iters; ++i) {
      const int s = i % STAGES;
      bar_wait(full + 8 * s, (i / STAGES) & 1);
      const uint32_t a = smem + s * kStage + wg * 64 * 128, b = smem + s * kStage + kA;
      asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
      for (int k = 0; k < BK / 16; ++k) wg64_nt(acc, desc_k(a + (k / 4) * kBN * 128 + (k % 4) * 32), desc_k(b + (k / 4) * 8192 + (k % 4) * 32), i | k);
      asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
      asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
      if ((threadIdx.x & 127) == 0) bar_arrive(empty + 8 * s);
    }
#pragma unroll
    for (int j = 0; j < 32; ++j) asm volatile("" : "+f"(acc[j])::"memory");
    asm volatile("bar.sync 1, %0;" ::"n"(128 * WGS) : "memory");
    float* buf = reinterpret_cast<float*>(smem_raw + (smem - sm(smem_raw)));
    const int lane = threadIdx.x & 31, row = wg * 64 + ((threadIdx.x & 127) >> 5) * 16 + (lane >> 2);
#pragma unroll
    for (int j = 0; j < 8; ++j)
#pragma unroll
      for (int e = 0; e < 4; ++e) buf[(j * 8 + (lane & 3) * 2 + (e & 1)) * kPitch + row + 8 * (e >> 1)] = acc[4 * j + e];
  }
  cluster_sync_all();
  for (int i = threadIdx.x; i < kShare * kBN / VR; i += kThreads) {
    const int tok = rank * kShare + i / (kBN / VR), n = i % (kBN / VR) * VR;
    const uint32_t at = smem + (tok * kPitch + n) * 4;
    float s[VR];
#pragma unroll
    for (int e = 0; e < VR; ++e) s[e] = __bfloat162float(bias[n0 + n + e]);
#pragma unroll
    for (int c = 0; c < CS; ++c) {
      float v[VR];
      const uint32_t p = peer(at, c);
#if VR == 4
      asm volatile("ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(v[0]), "=f"(v[1]), "=f"(v[2]), "=f"(v[3]) : "r"(p) : "memory");
#elif VR == 2
      asm volatile("ld.shared::cluster.v2.f32 {%0, %1}, [%2];" : "=f"(v[0]), "=f"(v[1]) : "r"(p) : "memory");
#else
      asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(v[0]) : "r"(p) : "memory");
#endif
#pragma unroll
      for (int e = 0; e < VR; ++e) s[e] += v[e];
    }
    __nv_bfloat16* y = Y + (size_t)tok * N + n0 + n;
#if VR == 1
    *y = __float2bfloat16(s[0]);
#else
#pragma unroll
    for (int e = 0; e < VR; e += 2) *reinterpret_cast<__nv_bfloat162*>(y + e) = __floats2bfloat162_rn(s[e], s[e + 1]);
#endif
  }
  cluster_sync_all();
}
