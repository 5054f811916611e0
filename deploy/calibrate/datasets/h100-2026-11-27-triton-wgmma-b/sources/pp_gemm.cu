// C[M,N] = alpha * A[M,K] * B[N,K]^T: a fixed grid, two consumer warpgroups that take tiles in turn (one multiplies while the other stores), one producer.
// Macros: ELT 0 fp16, 1 int8 (C is fp16 either way); MT tiles of 64 rows; BN; STAGES; ARS 1: A goes through registers (ldmatrix);
// EPI 1: stmatrix and a bulk tensor store, 0: plain stores; PG 1: the producer is a warpgroup that gives registers away; EARLY 1: the turn passes before the last product is waited for;
// BAND tiles of rows visited together
#include <cuda_fp16.h>
#include "hop.cuh"
#include "ops.cuh"
#if ELT == 0
typedef float Acc;
constexpr int CHUNK = 64;
#else
typedef int Acc;
constexpr int CHUNK = 128;
#endif
constexpr int BM = 64 * MT;
constexpr int A_BYTES = BM * 128, STAGE_BYTES = (BM + BN) * 128;
constexpr int OUT_BYTES = EPI ? BM * BN * 2 : 0;
constexpr int THREADS = 256 + (PG ? 128 : 32);

__device__ __forceinline__ uint64_t desc(uint32_t addr) {
  return (uint64_t)((addr & 0x3FFFF) >> 4) | (1ull << 16) | (64ull << 32) | (1ull << 62);
}
__device__ __forceinline__ void tile_at(int t, int tm, int tn, int& m, int& n) {
  const int per = BAND * tn, band = t / per, first = band * BAND, w = min(BAND, tm - first), r = t - band * per;
  m = first + r % w;
  n = r / w;
}
__device__ __forceinline__ void pin(float& x) { asm volatile("" : "+f"(x)::"memory"); }
__device__ __forceinline__ void pin(int& x) { asm volatile("" : "+r"(x)::"memory"); }
__device__ __forceinline__ uint32_t two(Acc a, Acc b, float alpha) {
  __half2 h = __floats2half2_rn((float)a * alpha, (float)b * alpha);
  return *(uint32_t*)&h;
}

extern "C" __global__ void __launch_bounds__(THREADS, 1)
pp_gemm(const __grid_constant__ TMap ta, const __grid_constant__ TMap tb, const __grid_constant__ TMap tc, __half* __restrict__ C, float alpha, int M, int N, int K) {
  extern __shared__ __align__(1024) unsigned char raw[];
  const uint32_t tiles = (sm(raw) + 1023u) & ~1023u;
  const uint32_t outs = tiles + STAGES * STAGE_BYTES;
  const uint32_t full = outs + 2 * OUT_BYTES, empty = full + STAGES * 8;
  const int group = threadIdx.x / 128, lane = threadIdx.x & 31, warp = (threadIdx.x & 127) >> 5;
  const int tm = M / BM, tn = N / BN, total = tm * tn, steps = K / CHUNK;
  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; s++) {
      bar_init(full + 8 * s, 1);
      bar_init(empty + 8 * s, 4);
    }
    bar_init_done();
  }
  __syncthreads();

  if (group == 2) {
#if PG
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
#endif
    if (threadIdx.x == 256) {
      int s = 0, ph = 1;
      for (int t = blockIdx.x; t < total; t += gridDim.x) {
        int m, n;
        tile_at(t, tm, tn, m, n);
        for (int k = 0; k < steps; k++) {
          bar_wait(empty + 8 * s, ph);
          bar_expect(full + 8 * s, STAGE_BYTES);
          tma_2d(tiles + s * STAGE_BYTES, &ta, k * CHUNK, m * BM, full + 8 * s);
          tma_2d(tiles + s * STAGE_BYTES + A_BYTES, &tb, k * CHUNK, n * BN, full + 8 * s);
          if (++s == STAGES) { s = 0; ph ^= 1; }
        }
      }
    }
    return;
  }
#if PG
  asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
#endif
  const uint32_t mine = outs + group * OUT_BYTES;
  if (group == 1) asm volatile("bar.arrive 1, 256;" ::: "memory");
  int turn = group;
  for (int t = blockIdx.x + group * gridDim.x; t < total; t += 2 * gridDim.x, turn += 2) {
    Acc acc[MT][BN / 2];
#pragma unroll
    for (int i = 0; i < MT; i++)
#pragma unroll
      for (int j = 0; j < BN / 2; j++) acc[i][j] = 0;
    const int first = turn * steps;
    int s = first % STAGES, ph = (first / STAGES) & 1, last = 0;
    asm volatile("bar.sync %0, 256;" ::"r"(1 + group) : "memory");
    for (int k = 0; k < steps; k++) {
      bar_wait(full + 8 * s, ph);
      const uint32_t a = tiles + s * STAGE_BYTES, b = a + A_BYTES;
#if ARS
      uint32_t fa[MT][4][4];
#pragma unroll
      for (int i = 0; i < MT; i++)
#pragma unroll
        for (int q = 0; q < 4; q++) {
          const int row = i * 64 + warp * 16 + (lane & 15), unit = q * 2 + (lane >> 4);
          asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                       : "=r"(fa[i][q][0]), "=r"(fa[i][q][1]), "=r"(fa[i][q][2]), "=r"(fa[i][q][3]) : "r"(a + row * 128 + ((unit ^ (row & 7)) << 4)) : "memory");
        }
#endif
      asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
      for (int q = 0; q < 4; q++)
#pragma unroll
        for (int i = 0; i < MT; i++) {
#if ARS
          Op<BN>::rs(acc[i], fa[i][q], desc(b + q * 32), 1);
#else
          Op<BN>::ss(acc[i], desc(a + i * 64 * 128 + q * 32), desc(b + q * 32), 1);
#endif
        }
      asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#if ARS
      asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#pragma unroll
      for (int i = 0; i < MT; i++)
#pragma unroll
        for (int q = 0; q < 4; q++)
#pragma unroll
          for (int e = 0; e < 4; e++) asm volatile("" : "+r"(fa[i][q][e])::"memory");
      if (lane == 0) bar_arrive(empty + 8 * s);
#else
      asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
      if (k > 0 && lane == 0) bar_arrive(empty + 8 * last);
#endif
      last = s;
      if (++s == STAGES) { s = 0; ph ^= 1; }
    }
    const bool more = t + (int)gridDim.x < total;
    if (EARLY && more) asm volatile("bar.arrive %0, 256;" ::"r"(2 - group) : "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#pragma unroll
    for (int i = 0; i < MT; i++)
#pragma unroll
      for (int j = 0; j < BN / 2; j++) pin(acc[i][j]);
#if !ARS
    if (lane == 0) bar_arrive(empty + 8 * last);
#endif
    if (!EARLY && more) asm volatile("bar.arrive %0, 256;" ::"r"(2 - group) : "memory");

    int m, n;
    tile_at(t, tm, tn, m, n);
#if EPI
    if ((threadIdx.x & 127) == 0) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    asm volatile("bar.sync %0, 128;" ::"r"(3 + group) : "memory");
#pragma unroll
    for (int i = 0; i < MT; i++)
#pragma unroll
      for (int j = 0; j < BN / 8; j += 2) {
        const int row = i * 64 + warp * 16 + ((lane >> 3) & 1) * 8 + (lane & 7), unit = (j & 7) + (lane >> 4);
        const uint32_t at = mine + (j / 8) * (BM * 128) + row * 128 + ((unit ^ (row & 7)) << 4);
        asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(at), "r"(two(acc[i][4 * j], acc[i][4 * j + 1], alpha)),
                     "r"(two(acc[i][4 * j + 2], acc[i][4 * j + 3], alpha)), "r"(two(acc[i][4 * j + 4], acc[i][4 * j + 5], alpha)), "r"(two(acc[i][4 * j + 6], acc[i][4 * j + 7], alpha)) : "memory");
      }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    asm volatile("bar.sync %0, 128;" ::"r"(3 + group) : "memory");
    if ((threadIdx.x & 127) == 0) {
#pragma unroll
      for (int c = 0; c < BN / 64; c++)
        asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&tc), "r"(n * BN + c * 64), "r"(m * BM), "r"(mine + c * (BM * 128)) : "memory");
      asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    }
#else
#pragma unroll
    for (int i = 0; i < MT; i++) {
      __half* p = C + (size_t)(m * BM + i * 64 + warp * 16 + (lane >> 2)) * N + n * BN + (lane & 3) * 2;
#pragma unroll
      for (int j = 0; j < BN / 8; j++) {
        *(uint32_t*)(p + j * 8) = two(acc[i][4 * j], acc[i][4 * j + 1], alpha);
        *(uint32_t*)(p + (size_t)8 * N + j * 8) = two(acc[i][4 * j + 2], acc[i][4 * j + 3], alpha);
      }
    }
#endif
  }
#if EPI
  if ((threadIdx.x & 127) == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
#endif
}
