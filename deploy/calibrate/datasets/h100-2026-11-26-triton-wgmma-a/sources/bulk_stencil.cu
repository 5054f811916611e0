// A cross of radius 2 over a float grid: a block takes TW columns and RH rows and streams the rows through a ring of STAGES chunks of RPC rows,
// one bulk copy a row. The input has 2 rows and 4 columns of margin on each side.
// Macros: TW, VEC columns a thread, RPC, STAGES, RH, PRODW 1: a warp of its own feeds the ring by full and empty barriers, 0: the first warp after a block barrier
#include "hop.cuh"
constexpr int WORKERS = TW / VEC;
constexpr int THREADS = WORKERS + (PRODW ? 32 : 0);
constexpr int PITCH = TW + 8;
constexpr int IN_ROWS = RH + 4;
constexpr int CHUNKS = (IN_ROWS + RPC - 1) / RPC;

extern "C" __global__ void __launch_bounds__(THREADS)
bulk_stencil(const float* __restrict__ in, float* __restrict__ out, float c0, float c1, float c2, int W) {
  extern __shared__ __align__(128) float ring[];
  __shared__ __align__(8) uint64_t bars[2 * STAGES];
  const uint32_t full = sm(bars), empty = full + 8 * STAGES;
  const int tid = threadIdx.x;
  const size_t ipitch = (size_t)W + 8;
  const float* src = in + (size_t)blockIdx.y * RH * ipitch + blockIdx.x * TW;
  if (tid == 0) {
    for (int s = 0; s < STAGES; s++) {
      bar_init(full + 8 * s, 1);
      bar_init(empty + 8 * s, WORKERS / 32);
    }
    bar_init_done();
  }
  __syncthreads();

  auto feed = [&](int c, int lane) {
    const int s = c % STAGES, rows = min(RPC, IN_ROWS - c * RPC);
    if (lane == 0) bar_expect(full + 8 * s, rows * PITCH * 4);
    __syncwarp();
    for (int r = lane; r < rows; r += 32)
      bulk_in(sm(ring + (s * RPC + r) * PITCH), src + (size_t)(c * RPC + r) * ipitch, PITCH * 4, full + 8 * s);
  };

  if (PRODW && tid >= WORKERS) {
    for (int c = 0; c < CHUNKS; c++) {
      bar_wait(empty + 8 * (c % STAGES), ((c / STAGES) & 1) ^ 1);
      feed(c, tid - WORKERS);
    }
    return;
  }
  if (!PRODW && tid < 32)
    for (int c = 0; c < STAGES && c < CHUNKS; c++) feed(c, tid);

  float v0[VEC], v1[VEC], v2[VEC], v3[VEC], h0[VEC], h1[VEC];   // rows y-4..y-1 of the column, sums along the rows y-2 and y-1
#pragma unroll
  for (int i = 0; i < VEC; i++) v0[i] = v1[i] = v2[i] = v3[i] = h0[i] = h1[i] = 0.f;
  float* dst = out + (size_t)blockIdx.y * RH * W + blockIdx.x * TW + tid * VEC;
  for (int c = 0; c < CHUNKS; c++) {
    const int s = c % STAGES, rows = min(RPC, IN_ROWS - c * RPC);
    bar_wait(full + 8 * s, (c / STAGES) & 1);
    for (int r = 0; r < rows; r++) {
      const float* line = ring + (s * RPC + r) * PITCH + 4 + tid * VEC;
      float a[VEC + 4];
#if VEC == 4
      {
        const float4 m = *(const float4*)line;
        const float2 l = *(const float2*)(line - 2), q = *(const float2*)(line + 4);
        a[0] = l.x; a[1] = l.y; a[2] = m.x; a[3] = m.y; a[4] = m.z; a[5] = m.w; a[6] = q.x; a[7] = q.y;
      }
#else
#pragma unroll
      for (int i = 0; i < VEC + 4; i++) a[i] = line[i - 2];
#endif
      const int y = c * RPC + r;
      float o[VEC];
#pragma unroll
      for (int i = 0; i < VEC; i++) {
        o[i] = h0[i] + c1 * (v1[i] + v3[i]) + c2 * (v0[i] + a[i + 2]);
        h0[i] = h1[i];
        h1[i] = c0 * a[i + 2] + c1 * (a[i + 1] + a[i + 3]) + c2 * (a[i] + a[i + 4]);
        v0[i] = v1[i]; v1[i] = v2[i]; v2[i] = v3[i]; v3[i] = a[i + 2];
      }
      if (y >= 4) {
        float* p = dst + (size_t)(y - 4) * W;
#if VEC == 4
        *(float4*)p = make_float4(o[0], o[1], o[2], o[3]);
#elif VEC == 2
        *(float2*)p = make_float2(o[0], o[1]);
#else
        *p = o[0];
#endif
      }
    }
    if (PRODW) {
      __syncwarp();
      if ((tid & 31) == 0) bar_arrive(empty + 8 * s);
    } else {
      __syncthreads();
      if (tid < 32 && c + STAGES < CHUNKS) feed(c + STAGES, tid);
    }
  }
}
