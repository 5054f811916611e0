// Y[C,R] = X[R,C]^T of 16-bit words: tiles come and go by TMA (128-byte swizzle), turned over in shared memory; R and C need not divide.
// Macros: TR rows of X a tile (64, 128, 256; 64 columns), WARPS, STAGES of tiles coming, OUTS buffers going, MODE 0: ldmatrix.trans + stmatrix, 1: half words, 2: prmt of two rows,
// ALONG 1: neighbouring tiles go along the rows of Y, PER_SM (launch only)
#include "hop.cuh"

namespace {
constexpr int kTile = TR * 128, kThreads = 32 * WARPS;
__device__ __forceinline__ uint32_t in_at(int r, int c) { return r * 128 + (((c >> 3) ^ (r & 7)) << 4) + (c & 7) * 2; }
__device__ __forceinline__ uint32_t out_at(int c, int r) { return (r >> 6) * 8192 + c * 128 + ((((r & 63) >> 3) ^ (c & 7)) << 4) + (r & 7) * 2; }
}  // namespace

extern "C" __global__ void __launch_bounds__(kThreads)
tma_transpose(const __grid_constant__ TMap map_x, const __grid_constant__ TMap map_y, int R, int C) {
  extern __shared__ __align__(1024) uint8_t smem_raw[];
  __shared__ __align__(8) uint64_t bars[STAGES];
  const uint32_t smem = (sm(smem_raw) + 1023u) & ~1023u, outs = smem + STAGES * kTile, full = sm(bars);
  const int tr = (R + TR - 1) / TR, tc = (C + 63) / 64, tiles = tr * tc;
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; ++s) bar_init(full + 8 * s, 1);
    bar_init_done();
  }
  __syncthreads();
  auto where = [&](int tile, int& r0, int& c0) {
    if (ALONG) {
      r0 = tile % tr * TR;
      c0 = tile / tr * 64;
    } else {
      r0 = tile / tc * TR;
      c0 = tile % tc * 64;
    }
  };
  auto fetch = [&](int i) {
    const int tile = blockIdx.x + i * gridDim.x;
    if (tile < tiles) {
      int r0, c0;
      where(tile, r0, c0);
      bar_expect(full + 8 * (i % STAGES), kTile);
      tma_2d(smem + (i % STAGES) * kTile, &map_x, c0, r0, full + 8 * (i % STAGES));
    }
  };
  if (threadIdx.x == 0)
    for (int i = 0; i < STAGES; ++i) fetch(i);
  int i = 0;
  for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x, ++i) {
    const uint32_t in = smem + (i % STAGES) * kTile, out = outs + (i % OUTS) * kTile;
    if (threadIdx.x == 0) asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(OUTS - 1) : "memory");
    __syncthreads();
    bar_wait(full + 8 * (i % STAGES), (i / STAGES) & 1);
#if MODE == 0
#pragma unroll 4
    for (int b = warp; b < TR / 32 * 8; b += WARPS) {
      const int cb = b & 7, rb = (b >> 3) * 4, j = lane >> 3, l = lane & 7;
      uint32_t v[4];
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3]) : "r"(in + in_at((rb + j) * 8 + l, cb * 8)) : "memory");
      asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(out + out_at(cb * 8 + l, (rb + j) * 8)), "r"(v[0]), "r"(v[1]), "r"(v[2]), "r"(v[3]) : "memory");
    }
#elif MODE == 1
#pragma unroll 8
    for (int e = threadIdx.x; e < TR * 64; e += kThreads) {
      const int c = e & 63, r = e >> 6;
      uint16_t v;
      asm volatile("ld.shared.u16 %0, [%1];" : "=h"(v) : "r"(in + in_at(r, c)) : "memory");
      asm volatile("st.shared.u16 [%0], %1;" ::"r"(out + out_at(c, r)), "h"(v) : "memory");
    }
#else
#pragma unroll 4
    for (int e = threadIdx.x; e < TR * 16; e += kThreads) {
      const int r = 2 * ((e & 3) + ((e >> 7) << 2)), c = 2 * ((e >> 2) & 31);
      uint32_t a, b;
      asm volatile("ld.shared.u32 %0, [%1];" : "=r"(a) : "r"(in + in_at(r, c)) : "memory");
      asm volatile("ld.shared.u32 %0, [%1];" : "=r"(b) : "r"(in + in_at(r + 1, c)) : "memory");
      asm volatile("st.shared.u32 [%0], %1;" ::"r"(out + out_at(c, r)), "r"(__byte_perm(a, b, 0x5410)) : "memory");
      asm volatile("st.shared.u32 [%0], %1;" ::"r"(out + out_at(c + 1, r)), "r"(__byte_perm(a, b, 0x7632)) : "memory");
    }
#endif
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
      int r0, c0;
      where(tile, r0, c0);
#pragma unroll
      for (int p = 0; p < TR / 64; ++p)
        if (p == 0 || r0 + p * 64 < R)
          asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%2, %3}], [%1];" ::"l"(&map_y), "r"(out + p * 8192), "r"(r0 + p * 64), "r"(c0) : "memory");
      asm volatile("cp.async.bulk.commit_group;" ::: "memory");
      fetch(i + STAGES);
    }
  }
  if (threadIdx.x == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
