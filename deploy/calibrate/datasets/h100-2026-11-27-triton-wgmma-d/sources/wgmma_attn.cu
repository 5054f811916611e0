// Attention, every key for every query, 128 wide, fp16, grouped heads: Q K^T by wgmma from shared memory, P stays in registers as the A operand of P V.
// Macros: WGS consumer warpgroups of 64 queries, BN keys a step, STAGES of K and of V, OVERLAP 1: the next Q K^T is issued before P V,
// REGS 1: setmaxnreg and a whole warpgroup for the copies (else a warp), HEADFAST 1: neighbouring blocks are heads
#include "hop.cuh"
#include "ops.cuh"

namespace {
constexpr int kBM = 64 * WGS;
constexpr int kQBytes = kBM * 256, kTile = BN * 256;
constexpr int kThreads = 128 * WGS + (REGS ? 128 : 32);

__device__ __forceinline__ uint64_t desc_k(uint32_t a) { return (uint64_t)((a & 0x3FFFF) >> 4) | ((uint64_t)1 << 16) | ((uint64_t)(1024 >> 4) << 32) | (1ull << 62); }
__device__ __forceinline__ uint64_t desc_v(uint32_t a) { return (uint64_t)((a & 0x3FFFF) >> 4) | ((uint64_t)(BN * 128 >> 4) << 16) | ((uint64_t)(1024 >> 4) << 32) | (1ull << 62); }
__device__ __forceinline__ float ex2(float x) { float r; asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x)); return r; }
__device__ __forceinline__ uint32_t pack(float lo, float hi) { uint32_t r; asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(hi), "f"(lo)); return r; }
__device__ __forceinline__ void fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int N> __device__ __forceinline__ void wait() { asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory"); }
template <int N> __device__ __forceinline__ void pin(float (&r)[N]) {
#pragma unroll
  for (int i = 0; i < N; ++i) asm volatile("" : "+f"(r[i])::"memory");
}
__device__ __forceinline__ void scores(float (&s)[BN / 2], uint32_t q, uint32_t k) {
  fence();
#pragma unroll
  for (int i = 0; i < 8; ++i) Wg<BN>::f16(s, desc_k(q + (i / 4) * kBM * 128 + (i % 4) * 32), desc_k(k + (i / 4) * BN * 128 + (i % 4) * 32), i);
  commit();
}
__device__ __forceinline__ void values(float (&o)[64], const uint32_t (&p)[BN / 4], uint32_t v) {
  fence();
#pragma unroll
  for (int i = 0; i < BN / 16; ++i) Wg<128>::rs_tn(o, p + 4 * i, desc_v(v + i * 2048));
  commit();
}
// one step of the running softmax: s becomes probabilities, returns the factors for what was before
__device__ __forceinline__ void soften(float (&s)[BN / 2], float (&mx)[2], float (&sum)[2], float (&f)[2], float scale) {
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    float m = mx[h];
#pragma unroll
    for (int j = 0; j < BN / 8; ++j) m = fmaxf(m, fmaxf(s[4 * j + 2 * h], s[4 * j + 2 * h + 1]));
    m = fmaxf(m, __shfl_xor_sync(~0u, m, 1));
    m = fmaxf(m, __shfl_xor_sync(~0u, m, 2));
    f[h] = ex2((mx[h] - m) * scale);
    mx[h] = m;
    const float b = m * scale;
    float t = 0.f;
#pragma unroll
    for (int j = 0; j < BN / 8; ++j)
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        float& x = s[4 * j + 2 * h + e];
        x = ex2(fmaf(x, scale, -b));
        t += x;
      }
    sum[h] = sum[h] * f[h] + t;
  }
}
__device__ __forceinline__ void to_half(uint32_t (&p)[BN / 4], const float (&s)[BN / 2]) {
#pragma unroll
  for (int j = 0; j < BN / 4; ++j) p[j] = pack(s[2 * j], s[2 * j + 1]);
}
__device__ __forceinline__ void rescale(float (&o)[64], const float (&f)[2]) {
#pragma unroll
  for (int j = 0; j < 64; ++j) o[j] *= f[(j >> 1) & 1];
}
}  // namespace

extern "C" __global__ void __launch_bounds__(kThreads, 1)
wgmma_attn(const __grid_constant__ TMap map_q, const __grid_constant__ TMap map_k, const __grid_constant__ TMap map_v, uint32_t* __restrict__ O, int S, int H, int ratio, float scale) {
  extern __shared__ __align__(1024) uint8_t smem_raw[];
  __shared__ __align__(8) uint64_t bars[4 * STAGES + 1];
  const uint32_t smem = (sm(smem_raw) + 1023u) & ~1023u;
  const uint32_t sq = smem, sk = smem + kQBytes, sv = sk + STAGES * kTile;
  const uint32_t kfull = sm(bars), vfull = kfull + 8 * STAGES, kempty = vfull + 8 * STAGES, vempty = kempty + 8 * STAGES, qfull = vempty + 8 * STAGES;
  const int head = HEADFAST ? blockIdx.x : blockIdx.y, q0 = (HEADFAST ? blockIdx.y : blockIdx.x) * kBM, batch = blockIdx.z;
  const int steps = S / BN, wg = threadIdx.x / 128;
  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; ++s) {
      bar_init(kfull + 8 * s, 1);
      bar_init(vfull + 8 * s, 1);
      bar_init(kempty + 8 * s, WGS);
      bar_init(vempty + 8 * s, WGS);
    }
    bar_init(qfull, 1);
    bar_init_done();
  }
  __syncthreads();
  if (wg == WGS) {
#if REGS
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(WGS == 2 ? 24 : 32));
#endif
    if (threadIdx.x == 128 * WGS) {
      const int kvh = head / ratio;
      bar_expect(qfull, kQBytes);
#pragma unroll
      for (int c = 0; c < 2; ++c)
#pragma unroll
        for (int r = 0; r < kBM; r += 64) tma_2d(sq + c * kBM * 128 + r * 128, &map_q, head * 128 + c * 64, batch * S + q0 + r, qfull);
      for (int i = 0; i < steps; ++i) {
        const int s = i % STAGES, before = (i / STAGES - 1) & 1;
        if (i >= STAGES) bar_wait(kempty + 8 * s, before);
        bar_expect(kfull + 8 * s, kTile);
#pragma unroll
        for (int c = 0; c < 2; ++c) tma_2d(sk + s * kTile + c * BN * 128, &map_k, kvh * 128 + c * 64, batch * S + i * BN, kfull + 8 * s);
        if (i >= STAGES) bar_wait(vempty + 8 * s, before);
        bar_expect(vfull + 8 * s, kTile);
#pragma unroll
        for (int c = 0; c < 2; ++c) tma_2d(sv + s * kTile + c * BN * 128, &map_v, kvh * 128 + c * 64, batch * S + i * BN, vfull + 8 * s);
      }
    }
  } else {
#if REGS
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(WGS == 2 ? 240 : 160));
#endif
    const bool boss = (threadIdx.x & 127) == 0;
    const uint32_t q = sq + wg * 64 * 128;
    float o[64], s[BN / 2], mx[2] = {-1e30f, -1e30f}, sum[2] = {0.f, 0.f}, f[2];
    uint32_t p[BN / 4];
#pragma unroll
    for (int j = 0; j < 64; ++j) o[j] = 0.f;
    bar_wait(qfull, 0);
#if OVERLAP
    bar_wait(kfull, 0);
    scores(s, q, sk);
    wait<0>();
    pin(s);
    if (boss) bar_arrive(kempty);
    soften(s, mx, sum, f, scale);
    to_half(p, s);
    for (int i = 0; i < steps - 1; ++i) {
      const int st = i % STAGES, nx = (i + 1) % STAGES;
      bar_wait(kfull + 8 * nx, ((i + 1) / STAGES) & 1);
      scores(s, q, sk + nx * kTile);
      bar_wait(vfull + 8 * st, (i / STAGES) & 1);
      values(o, p, sv + st * kTile);
      wait<1>();
      pin(s);
      if (boss) bar_arrive(kempty + 8 * nx);
      soften(s, mx, sum, f, scale);
      wait<0>();
      pin(o);
      if (boss) bar_arrive(vempty + 8 * st);
      to_half(p, s);
      rescale(o, f);
    }
    const int st = (steps - 1) % STAGES;
    bar_wait(vfull + 8 * st, ((steps - 1) / STAGES) & 1);
    values(o, p, sv + st * kTile);
    wait<0>();
    pin(o);
#else
    for (int i = 0; i < steps; ++i) {
      const int st = i % STAGES, ph = (i / STAGES) & 1;
      bar_wait(kfull + 8 * st, ph);
      scores(s, q, sk + st * kTile);
      wait<0>();
      pin(s);
      if (boss) bar_arrive(kempty + 8 * st);
      soften(s, mx, sum, f, scale);
      to_half(p, s);
      rescale(o, f);
      bar_wait(vfull + 8 * st, ph);
      values(o, p, sv + st * kTile);
      wait<0>();
      pin(o);
      if (boss) bar_arrive(vempty + 8 * st);
    }
#endif
    const int lane = threadIdx.x & 31, warp = (threadIdx.x & 127) >> 5;
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      float t = sum[h];
      t += __shfl_xor_sync(~0u, t, 1);
      t += __shfl_xor_sync(~0u, t, 2);
      const float r = 1.f / t;
      uint32_t* dst = O + ((size_t)(batch * S + q0 + wg * 64 + warp * 16 + (lane >> 2) + 8 * h) * H + head) * 64 + (lane & 3);
#pragma unroll
      for (int j = 0; j < 16; ++j) dst[j * 4] = pack(o[4 * j + 2 * h] * r, o[4 * j + 2 * h + 1] * r);
    }
  }
}
