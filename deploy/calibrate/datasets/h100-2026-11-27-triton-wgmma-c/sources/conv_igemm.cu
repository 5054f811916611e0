// Implicit GEMM convolution 3x3, stride 2, padding 1, NHWC, fp16, bias and ReLU in the epilogue; mma.sync fed by cp.async and ldmatrix.
// Macros: BM pixels, BN filters, BK channels a step; WM x WN warps; STAGES; MINB blocks a multiprocessor at least; FFAST 1: filters vary fastest over the grid
#include <cuda_fp16.h>
#include <cstdint>

static constexpr int THREADS = 32 * WM * WN;
static constexpr int MI = BM / (16 * WM), NI = BN / (8 * WN);
static constexpr int CPR = BK / 8;                        // 16-byte chunks a row
static constexpr int LA = BM * CPR / THREADS, LB = BN * CPR / THREADS;
static constexpr int STAGE = (BM + BN) * BK * 2;

struct Shape { int H, W, C, OH, OW, F, pixels; };

__device__ __forceinline__ int swz(int row, int chunk) {
  return BK >= 64 ? chunk ^ (row & 7) : chunk ^ ((row >> 1) & (CPR - 1));
}
__device__ __forceinline__ void cp16(uint32_t dst, const void* src, bool ok) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(dst), "l"(src), "r"(ok ? 16 : 0) : "memory");
}
__device__ __forceinline__ void ldsm(uint32_t* r, uint32_t addr) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(addr) : "memory");
}
__device__ __forceinline__ void hmma(float* c, const uint32_t* a, uint32_t b0, uint32_t b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

extern "C" __global__ void __launch_bounds__(THREADS, MINB)
conv_igemm(const __half* __restrict__ x, const __half* __restrict__ w, const float* __restrict__ bias, __half* __restrict__ y, int H, int W, int C, int OH, int OW, int F, int pixels) {
  extern __shared__ __align__(128) unsigned char smem[];
  const uint32_t base = (uint32_t)__cvta_generic_to_shared(smem);
  const int tid = threadIdx.x, lane = tid & 31, wm = (tid >> 5) % WM, wn = (tid >> 5) / WM;
  const int m0 = (FFAST ? blockIdx.y : blockIdx.x) * BM, n0 = (FFAST ? blockIdx.x : blockIdx.y) * BN;
  const int kred = 9 * C, steps = kred / BK;

  int off[LA], ih0[LA], iw0[LA];
#pragma unroll
  for (int i = 0; i < LA; ++i) {
    const int id = i * THREADS + tid, p = m0 + id / CPR;
    const int n = p / (OH * OW), r = p - n * OH * OW, oh = r / OW, ow = r - oh * OW;
    ih0[i] = p < pixels ? oh * 2 - 1 : -100000;
    iw0[i] = ow * 2 - 1;
    off[i] = ((n * H + oh * 2 - 1) * W + iw0[i]) * C + (id % CPR) * 8;
  }

  auto issue = [&](int k) {
    const uint32_t sa = base + (k % STAGES) * STAGE, sb = sa + BM * BK * 2;
    const int tap = k * BK / C, c0 = k * BK - tap * C, r = tap / 3, s = tap - r * 3;
    const int shift = (r * W + s) * C + c0;
#pragma unroll
    for (int i = 0; i < LA; ++i) {
      const int id = i * THREADS + tid, row = id / CPR, ch = id % CPR;
      const bool ok = (unsigned)(ih0[i] + r) < (unsigned)H && (unsigned)(iw0[i] + s) < (unsigned)W;
      cp16(sa + row * BK * 2 + (swz(row, ch) << 4), ok ? x + off[i] + shift : x, ok);
    }
#pragma unroll
    for (int i = 0; i < LB; ++i) {
      const int id = i * THREADS + tid, row = id / CPR, ch = id % CPR;
      cp16(sb + row * BK * 2 + (swz(row, ch) << 4), w + (size_t)(n0 + row) * kred + k * BK + ch * 8, true);
    }
  };

  float acc[MI][NI][4];
#pragma unroll
  for (int i = 0; i < MI; ++i)
#pragma unroll
    for (int j = 0; j < NI; ++j)
#pragma unroll
      for (int e = 0; e < 4; ++e) acc[i][j][e] = 0.f;

#pragma unroll
  for (int s = 0; s < STAGES - 1; ++s) {
    issue(s);
    asm volatile("cp.async.commit_group;" ::: "memory");
  }
  for (int k = 0; k < steps; ++k) {
    asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
    __syncthreads();
    if (k + STAGES - 1 < steps) issue(k + STAGES - 1);
    asm volatile("cp.async.commit_group;" ::: "memory");
    const uint32_t sa = base + (k % STAGES) * STAGE, sb = sa + BM * BK * 2;
#pragma unroll
    for (int kk = 0; kk < BK / 16; ++kk) {
      uint32_t fa[MI][4], fb[NI / 2][4];
#pragma unroll
      for (int i = 0; i < MI; ++i) {
        const int row = (wm * MI + i) * 16 + (lane & 15);
        ldsm(fa[i], sa + row * BK * 2 + (swz(row, kk * 2 + (lane >> 4)) << 4));
      }
#pragma unroll
      for (int j = 0; j < NI / 2; ++j) {
        const int row = (wn * NI + 2 * j) * 8 + ((lane >> 4) << 3) + (lane & 7);
        ldsm(fb[j], sb + row * BK * 2 + (swz(row, kk * 2 + ((lane >> 3) & 1)) << 4));
      }
#pragma unroll
      for (int i = 0; i < MI; ++i)
#pragma unroll
        for (int j = 0; j < NI; ++j) hmma(acc[i][j], fa[i], fb[j / 2][(j & 1) * 2], fb[j / 2][(j & 1) * 2 + 1]);
    }
  }
#pragma unroll
  for (int i = 0; i < MI; ++i)
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int p = m0 + (wm * MI + i) * 16 + h * 8 + (lane >> 2);
      if (p >= pixels) continue;
#pragma unroll
      for (int j = 0; j < NI; ++j) {
        const int f = n0 + (wn * NI + j) * 8 + (lane & 3) * 2;
        const float2 b = *reinterpret_cast<const float2*>(bias + f);
        *reinterpret_cast<__half2*>(y + (size_t)p * F + f) =
            __floats2half2_rn(fmaxf(acc[i][j][2 * h] + b.x, 0.f), fmaxf(acc[i][j][2 * h + 1] + b.y, 0.f));
      }
    }
}
