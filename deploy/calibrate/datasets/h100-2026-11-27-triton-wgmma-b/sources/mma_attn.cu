// Attention forward, heads of 128, grouped keys and values, by mma.sync, ldmatrix and cp.async.
// Macros: WARPS; MW tiles of 16 query rows a warp; BN keys a step; STAGES buffers of keys and values; QREG 1: the queries stay in registers; PACKQ 1: the heads of a query tile follow one another in the grid
#include <cuda_fp16.h>
#include <cstdint>
constexpr int D = 128, BM = 16 * WARPS * MW, THREADS = 32 * WARPS, NB = BN / 8;

__device__ __forceinline__ uint32_t sma(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ __forceinline__ uint32_t spot(uint32_t base, int row, int unit) { return base + row * 256 + ((unit ^ (row & 7)) << 4); }
__device__ __forceinline__ void ldm(uint32_t (&r)[4], uint32_t a) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(a) : "memory");
}
__device__ __forceinline__ void ldmt(uint32_t (&r)[4], uint32_t a) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(a) : "memory");
}
__device__ __forceinline__ void mma(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
__device__ __forceinline__ float pow2(float x) { float y; asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; }
__device__ __forceinline__ uint32_t two(float a, float b) { __half2 h = __floats2half2_rn(a, b); return *(uint32_t*)&h; }
template <int ROWS> __device__ __forceinline__ void fetch(uint32_t dst, const __half* src) {
#pragma unroll
  for (int i = 0; i < ROWS * 16 / THREADS; i++) {
    const int id = i * THREADS + threadIdx.x, row = id >> 4, unit = id & 15;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(spot(dst, row, unit)), "l"(src + row * D + unit * 8) : "memory");
  }
}

extern "C" __global__ void __launch_bounds__(THREADS)
mma_attn(const __half* __restrict__ Q, const __half* __restrict__ Kk, const __half* __restrict__ V, __half* __restrict__ O, float scale, int S, int heads, int ratio) {
  extern __shared__ __align__(128) unsigned char raw[];
  const uint32_t sq = sma(raw), sk = sq + BM * 256, sv = sk + STAGES * BN * 256;
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  const int bh = PACKQ ? blockIdx.x : blockIdx.y, tile = PACKQ ? blockIdx.y : blockIdx.x;
  const int b = bh / heads, h = bh % heads, kvh = h / ratio, kvheads = heads / ratio;
  const size_t at = ((size_t)bh * S + tile * BM) * D;
  const __half* kp = Kk + (size_t)(b * kvheads + kvh) * S * D;
  const __half* vp = V + (size_t)(b * kvheads + kvh) * S * D;
  const int T = S / BN;
  fetch<BM>(sq, Q + at);
  asm volatile("cp.async.commit_group;" ::: "memory");
#pragma unroll
  for (int s = 0; s < STAGES - 1; s++) {
    fetch<BN>(sk + s * BN * 256, kp + (size_t)s * BN * D);
    fetch<BN>(sv + s * BN * 256, vp + (size_t)s * BN * D);
    asm volatile("cp.async.commit_group;" ::: "memory");
  }
  float o[MW][16][4], top[MW][2], sum[MW][2];
#pragma unroll
  for (int w = 0; w < MW; w++) {
#pragma unroll
    for (int j = 0; j < 16; j++) o[w][j][0] = o[w][j][1] = o[w][j][2] = o[w][j][3] = 0.f;
    top[w][0] = top[w][1] = -1e30f;
    sum[w][0] = sum[w][1] = 0.f;
  }
  uint32_t fq[MW][QREG ? 8 : 1][4];
  if (QREG) {
    asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 1) : "memory");
    __syncthreads();
#pragma unroll
    for (int w = 0; w < MW; w++)
#pragma unroll
      for (int q = 0; q < 8; q++) ldm(fq[w][QREG ? q : 0], spot(sq, (warp * MW + w) * 16 + (lane & 15), q * 2 + (lane >> 4)));
  }
  int slot = 0, fill = STAGES - 1;
  for (int t = 0; t < T; t++) {
    if (t + STAGES - 1 < T) {
      fetch<BN>(sk + fill * BN * 256, kp + (size_t)(t + STAGES - 1) * BN * D);
      fetch<BN>(sv + fill * BN * 256, vp + (size_t)(t + STAGES - 1) * BN * D);
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
    asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 1) : "memory");
    __syncthreads();
    const uint32_t kb = sk + slot * BN * 256, vb = sv + slot * BN * 256;
    float s[MW][NB][4];
#pragma unroll
    for (int w = 0; w < MW; w++)
#pragma unroll
      for (int j = 0; j < NB; j++) s[w][j][0] = s[w][j][1] = s[w][j][2] = s[w][j][3] = 0.f;
#pragma unroll
    for (int q = 0; q < 8; q++) {
      if (!QREG) {
#pragma unroll
        for (int w = 0; w < MW; w++) ldm(fq[w][0], spot(sq, (warp * MW + w) * 16 + (lane & 15), q * 2 + (lane >> 4)));
      }
#pragma unroll
      for (int j = 0; j < NB; j += 2) {
        uint32_t fk[4];
        ldm(fk, spot(kb, j * 8 + ((lane >> 4) << 3) + (lane & 7), q * 2 + ((lane >> 3) & 1)));
#pragma unroll
        for (int w = 0; w < MW; w++) {
          mma(s[w][j], fq[w][QREG ? q : 0], fk[0], fk[1]);
          mma(s[w][j + 1], fq[w][QREG ? q : 0], fk[2], fk[3]);
        }
      }
    }
#pragma unroll
    for (int w = 0; w < MW; w++)
#pragma unroll
      for (int r = 0; r < 2; r++) {
        float m = top[w][r];
#pragma unroll
        for (int j = 0; j < NB; j++) m = fmaxf(m, fmaxf(s[w][j][2 * r], s[w][j][2 * r + 1]));
        m = fmaxf(m, __shfl_xor_sync(~0u, m, 1));
        m = fmaxf(m, __shfl_xor_sync(~0u, m, 2));
        const float a = pow2((top[w][r] - m) * scale), off = m * scale;
        top[w][r] = m;
        float l = 0.f;
#pragma unroll
        for (int j = 0; j < NB; j++) {
          s[w][j][2 * r] = pow2(s[w][j][2 * r] * scale - off);
          s[w][j][2 * r + 1] = pow2(s[w][j][2 * r + 1] * scale - off);
          l += s[w][j][2 * r] + s[w][j][2 * r + 1];
        }
        sum[w][r] = sum[w][r] * a + l;
#pragma unroll
        for (int j = 0; j < 16; j++) {
          o[w][j][2 * r] *= a;
          o[w][j][2 * r + 1] *= a;
        }
      }
#pragma unroll
    for (int j = 0; j < NB; j += 2) {
      uint32_t fp[MW][4];
#pragma unroll
      for (int w = 0; w < MW; w++) {
        fp[w][0] = two(s[w][j][0], s[w][j][1]);
        fp[w][1] = two(s[w][j][2], s[w][j][3]);
        fp[w][2] = two(s[w][j + 1][0], s[w][j + 1][1]);
        fp[w][3] = two(s[w][j + 1][2], s[w][j + 1][3]);
      }
#pragma unroll
      for (int d = 0; d < 16; d += 2) {
        uint32_t fv[4];
        ldmt(fv, spot(vb, j * 8 + (lane & 15), d + (lane >> 4)));
#pragma unroll
        for (int w = 0; w < MW; w++) {
          mma(o[w][d], fp[w], fv[0], fv[1]);
          mma(o[w][d + 1], fp[w], fv[2], fv[3]);
        }
      }
    }
    __syncthreads();
    slot = slot + 1 == STAGES ? 0 : slot + 1;
    fill = fill + 1 == STAGES ? 0 : fill + 1;
  }
#pragma unroll
  for (int w = 0; w < MW; w++)
#pragma unroll
    for (int r = 0; r < 2; r++) {
      float l = sum[w][r];
      l += __shfl_xor_sync(~0u, l, 1);
      l += __shfl_xor_sync(~0u, l, 2);
      const float inv = 1.f / l;
      __half* p = O + at + (size_t)((warp * MW + w) * 16 + r * 8 + (lane >> 2)) * D + (lane & 3) * 2;
#pragma unroll
      for (int d = 0; d < 16; d++) *(uint32_t*)(p + d * 8) = two(o[w][d][2 * r] * inv, o[w][d][2 * r + 1] * inv);
    }
}
