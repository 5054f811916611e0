// Gradient of an embedding: dW[ids[t]] += G[t], rows of D floats. A warp brings rows by bulk copies through a ring of its own and adds them with bulk reductions
// (or red instructions out of shared memory).
// Macros: WARPS a block, CHUNK floats a piece, STAGES of the ring, MODE 0: cp.reduce.async.bulk, 1: red.v4, 2: red.v2, 3: atomicAdd a float, PER_SM (launch only), PIECEFAST 1: pieces of a row go to neighbouring warps
#include "hop.cuh"

namespace {
constexpr int kBytes = CHUNK * 4;
}

extern "C" __global__ void __launch_bounds__(32 * WARPS)
embed_grad_bulk(const float* __restrict__ G, const int* __restrict__ ids, float* __restrict__ dW, int tokens, int D) {
  extern __shared__ __align__(128) uint8_t raw[];
  __shared__ __align__(8) uint64_t bars[WARPS * STAGES];
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  const uint32_t ring = sm(raw) + warp * STAGES * kBytes, bar = sm(bars) + warp * STAGES * 8;
  const int pieces = D / CHUNK, total = tokens * pieces, workers = gridDim.x * WARPS;
  const int w = PIECEFAST ? blockIdx.x * WARPS + warp : warp * gridDim.x + blockIdx.x;
  if (lane == 0) {
    for (int s = 0; s < STAGES; ++s) bar_init(bar + 8 * s, 1);
    bar_init_done();
  }
  __syncwarp();
  const int count = w < total ? (total - w + workers - 1) / workers : 0;
  auto fetch = [&](int i) {
    const int j = w + i * workers, s = i % STAGES;
    bar_expect(bar + 8 * s, kBytes);
    bulk_in(ring + s * kBytes, G + (size_t)(j / pieces) * D + (j % pieces) * CHUNK, kBytes, bar + 8 * s);
  };
  if (lane == 0)
    for (int i = 0; i < STAGES - 1 && i < count; ++i) fetch(i);
  for (int i = 0; i < count; ++i) {
    const int j = w + i * workers, s = i % STAGES;
    const int id = ids[j / pieces];
    float* dst = dW + (size_t)id * D + (j % pieces) * CHUNK;
#if MODE == 0
    if (lane == 0) {
      bar_wait(bar + 8 * s, (i / STAGES) & 1);
      asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;" ::"l"(dst), "r"(ring + s * kBytes), "r"(kBytes) : "memory");
      asm volatile("cp.async.bulk.commit_group;" ::: "memory");
      if (i + STAGES - 1 < count) {
        asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
        fetch(i + STAGES - 1);
      }
    }
#else
    bar_wait(bar + 8 * s, (i / STAGES) & 1);
    const float* src = reinterpret_cast<const float*>(raw) + (warp * STAGES + s) * CHUNK;
#if MODE == 1
#pragma unroll 4
    for (int c = lane * 4; c < CHUNK; c += 128) {
      const float4 v = *reinterpret_cast<const float4*>(src + c);
      asm volatile("red.global.add.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(dst + c), "f"(v.x), "f"(v.y), "f"(v.z), "f"(v.w) : "memory");
    }
#elif MODE == 2
#pragma unroll 4
    for (int c = lane * 2; c < CHUNK; c += 64) {
      const float2 v = *reinterpret_cast<const float2*>(src + c);
      asm volatile("red.global.add.v2.f32 [%0], {%1, %2};" ::"l"(dst + c), "f"(v.x), "f"(v.y) : "memory");
    }
#else
#pragma unroll 4
    for (int c = lane; c < CHUNK; c += 32) atomicAdd(dst + c, src[c]);
#endif
    __syncwarp();
    if (lane == 0 && i + STAGES - 1 < count) fetch(i + STAGES - 1);
#endif
  }
#if MODE == 0
  if (lane == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
#endif
}
