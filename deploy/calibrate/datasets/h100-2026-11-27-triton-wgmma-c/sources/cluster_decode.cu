// Decoding with grouped heads: a cluster of CL blocks shares a key head, every block walks its part of the keys and values (bulk copies into a ring),
// the partial results meet through distributed shared memory.
// Macros: CL; WARPS; LPK lanes a key; KU keys a lane group takes at once; BN keys a stage; STAGES
#include <cuda_fp16.h>
#include "hop.cuh"

constexpr int D = 128, G = 4;
constexpr int DL = D / LPK;                         // values a lane
constexpr int VEC = DL < 8 ? DL : 8, PARTS = DL / VEC;
constexpr int KPW = 32 / LPK, PASS = WARPS * KPW * KU;
constexpr int TILE = BN * D * 2, THREADS = 32 * WARPS;
static_assert(BN % PASS == 0, "");

struct __align__(VEC * 2) Frag { __half2 h[VEC / 2]; };

__device__ __forceinline__ float ex2(float x) { float y; asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; }
__device__ __forceinline__ float from_cta(const float* p, int rank) {
  float v;
  asm volatile("{\n.reg .b32 a;\nmapa.shared::cluster.u32 a, %1, %2;\nld.shared::cluster.f32 %0, [a];\n}" : "=f"(v) : "r"(sm(p)), "r"(rank) : "memory");
  return v;
}
__device__ __forceinline__ void load_row(float (&f)[DL], const __half* row, int l) {
#pragma unroll
  for (int c = 0; c < PARTS; ++c) {
    const Frag x = *reinterpret_cast<const Frag*>(row + (c * LPK + l) * VEC);
#pragma unroll
    for (int i = 0; i < VEC / 2; ++i) {
      const float2 t = __half22float2(x.h[i]);
      f[c * VEC + 2 * i] = t.x;
      f[c * VEC + 2 * i + 1] = t.y;
    }
  }
}

extern "C" __global__ void __launch_bounds__(THREADS)
#if CL > 1
__cluster_dims__(CL, 1, 1)
#endif
cluster_decode(const __half* __restrict__ q, const __half* __restrict__ keys, const __half* __restrict__ values, __half* __restrict__ o, float scale_log2, int S) {
  extern __shared__ __align__(128) unsigned char ring[];
  __shared__ __align__(8) uint64_t bars[2 * STAGES];
  __shared__ float part_o[WARPS][G][D];
  __shared__ float part_m[WARPS][G], part_l[WARPS][G];
  __shared__ float blk_o[G][D], blk_m[G], blk_l[G];
  const uint32_t full = sm(bars), empty = full + 8 * STAGES;
  const int tid = threadIdx.x, lane = tid & 31, warp = tid >> 5, l = lane % LPK, grp = lane / LPK;
  const int rank = CL > 1 ? (int)cluster_rank() : 0;
  const size_t head = blockIdx.y;
  const int mine = S / CL, tiles = mine / BN;
  const __half* kp = keys + (head * S + (size_t)rank * mine) * D;
  const __half* vp = values + (head * S + (size_t)rank * mine) * D;
  if (tid == 0) {
    for (int s = 0; s < STAGES; ++s) {
      bar_init(full + 8 * s, 1);
      bar_init(empty + 8 * s, WARPS);
    }
    bar_init_done();
    for (int t = 0; t < STAGES && t < tiles; ++t) {
      bar_expect(full + 8 * t, 2 * TILE);
      bulk_in(sm(ring) + t * 2 * TILE, kp + (size_t)t * BN * D, TILE, full + 8 * t);
      bulk_in(sm(ring) + t * 2 * TILE + TILE, vp + (size_t)t * BN * D, TILE, full + 8 * t);
    }
  }
  __syncthreads();

  float qf[G][DL], acc[G][DL], mx[G], sum[G];
#pragma unroll
  for (int g = 0; g < G; ++g) {
    load_row(qf[g], q + (head * G + g) * D, l);
#pragma unroll
    for (int i = 0; i < DL; ++i) {
      qf[g][i] *= scale_log2;
      acc[g][i] = 0.f;
    }
    mx[g] = -1e30f;
    sum[g] = 0.f;
  }

  for (int t = 0; t < tiles; ++t) {
    const int s = t % STAGES;
    bar_wait(full + 8 * s, (t / STAGES) & 1);
    const __half* kt = reinterpret_cast<const __half*>(ring + s * 2 * TILE);
    const __half* vt = kt + BN * D;
#pragma unroll 1
    for (int j = (warp * KPW + grp) * KU; j < BN; j += PASS) {
      float p[KU][G];
#pragma unroll
      for (int u = 0; u < KU; ++u) {
        float f[DL];
        load_row(f, kt + (j + u) * D, l);
#pragma unroll
        for (int g = 0; g < G; ++g) {
          float d = 0.f;
#pragma unroll
          for (int i = 0; i < DL; ++i) d = fmaf(qf[g][i], f[i], d);
          p[u][g] = d;
        }
      }
#pragma unroll
      for (int u = 0; u < KU; ++u)
#pragma unroll
        for (int g = 0; g < G; ++g)
#pragma unroll
          for (int w = LPK / 2; w > 0; w >>= 1) p[u][g] += __shfl_xor_sync(~0u, p[u][g], w);
#pragma unroll
      for (int g = 0; g < G; ++g) {
        float m = mx[g];
#pragma unroll
        for (int u = 0; u < KU; ++u) m = fmaxf(m, p[u][g]);
        const float a = ex2(mx[g] - m);
        mx[g] = m;
        sum[g] *= a;
#pragma unroll
        for (int i = 0; i < DL; ++i) acc[g][i] *= a;
#pragma unroll
        for (int u = 0; u < KU; ++u) {
          p[u][g] = ex2(p[u][g] - m);
          sum[g] += p[u][g];
        }
      }
#pragma unroll
      for (int u = 0; u < KU; ++u) {
        float f[DL];
        load_row(f, vt + (j + u) * D, l);
#pragma unroll
        for (int g = 0; g < G; ++g)
#pragma unroll
          for (int i = 0; i < DL; ++i) acc[g][i] = fmaf(p[u][g], f[i], acc[g][i]);
      }
    }
    __syncwarp();
    if (lane == 0) bar_arrive(empty + 8 * s);
    // the slot of the tile before is filled again, one tile late so that the other warps have left it
    if (tid == 0 && t > 0 && t - 1 + STAGES < tiles) {
      const int n = t - 1 + STAGES, f = (t - 1) % STAGES;
      bar_wait(empty + 8 * f, ((t - 1) / STAGES) & 1);
      bar_expect(full + 8 * f, 2 * TILE);
      bulk_in(sm(ring) + f * 2 * TILE, kp + (size_t)n * BN * D, TILE, full + 8 * f);
      bulk_in(sm(ring) + f * 2 * TILE + TILE, vp + (size_t)n * BN * D, TILE, full + 8 * f);
    }
    __syncwarp();
  }

  // lane groups of a warp
#pragma unroll
  for (int w = LPK; w < 32; w <<= 1)
#pragma unroll
    for (int g = 0; g < G; ++g) {
      const float m = fmaxf(mx[g], __shfl_xor_sync(~0u, mx[g], w)), a = ex2(mx[g] - m);
      mx[g] = m;
      sum[g] *= a;
      sum[g] += __shfl_xor_sync(~0u, sum[g], w);
#pragma unroll
      for (int i = 0; i < DL; ++i) {
        acc[g][i] *= a;
        acc[g][i] += __shfl_xor_sync(~0u, acc[g][i], w);
      }
    }
  if (grp == 0)
#pragma unroll
    for (int g = 0; g < G; ++g) {
#pragma unroll
      for (int i = 0; i < DL; ++i) part_o[warp][g][((i / VEC) * LPK + l) * VEC + i % VEC] = acc[g][i];
      if (l == 0) {
        part_m[warp][g] = mx[g];
        part_l[warp][g] = sum[g];
      }
    }
  __syncthreads();
  // warps of a block
  for (int i = tid; i < G * D; i += THREADS) {
    const int g = i / D, d = i % D;
    float m = -1e30f, ls = 0.f, os = 0.f;
    for (int w = 0; w < WARPS; ++w) m = fmaxf(m, part_m[w][g]);
    for (int w = 0; w < WARPS; ++w) {
      const float a = ex2(part_m[w][g] - m);
      ls += a * part_l[w][g];
      os += a * part_o[w][g][d];
    }
    blk_o[g][d] = os;
    if (d == 0) {
      blk_m[g] = m;
      blk_l[g] = ls;
    }
  }
#if CL > 1
  cluster_sync_all();
#else
  __syncthreads();
#endif
  // blocks of the cluster, each for its share of the outputs
  for (int i = rank * (G * D / CL) + tid; i < (rank + 1) * (G * D / CL); i += THREADS) {
    const int g = i / D, d = i % D;
#if CL > 1
    float m = -1e30f, ls = 0.f, os = 0.f;
    for (int c = 0; c < CL; ++c) m = fmaxf(m, from_cta(&blk_m[g], c));
    for (int c = 0; c < CL; ++c) {
      const float a = ex2(from_cta(&blk_m[g], c) - m);
      ls += a * from_cta(&blk_l[g], c);
      os += a * from_cta(&blk_o[g][d], c);
    }
#else
    const float ls = blk_l[g], os = blk_o[g][d];
#endif
    o[(head * G + g) * D + d] = __float2half(os / ls);
  }
#if CL > 1
  cluster_sync_all();
#endif
}
