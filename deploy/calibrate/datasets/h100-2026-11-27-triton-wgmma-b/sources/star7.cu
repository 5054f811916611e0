// A seven-point stencil in three dimensions with zeros outside: planes come by cp.async.bulk.tensor.3d into a ring, a block walks along z.
// Macros: TX, TY the tile; VX neighbouring values a thread; RY rows a thread; ZB planes a block; STAGES planes of the ring;
// REGZ 1: the values above and below are carried in registers; STORE 1: the result leaves by a bulk tensor store
#include "hop.cuh"
constexpr int PX = TX + 8, PY = TY + 2;
constexpr int BYTES = PX * PY * 4, SLOT = (BYTES + 127) / 128 * 128;
constexpr int COLS = TX / VX, THREADS = COLS * (TY / RY);

__device__ __forceinline__ void tma_3d(uint32_t dst, const TMap* m, int x, int y, int z, uint32_t b) {
  asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], [%5];" ::"r"(dst), "l"(m), "r"(x), "r"(y), "r"(z), "r"(b) : "memory");
}
struct alignas(4 * VX) Vec { float v[VX]; };

extern "C" __global__ void __launch_bounds__(THREADS)
star7(const __grid_constant__ TMap tin, const __grid_constant__ TMap tout, float* __restrict__ out, float c0, float c1, float c2, int X, int Y) {
  extern __shared__ __align__(128) unsigned char raw[];
  __shared__ __align__(8) unsigned long long bars[STAGES];
  const uint32_t base = (sm(raw) + 127u) & ~127u, full = sm(bars);
  unsigned char* ring = raw + (base - sm(raw));
  const int x0 = blockIdx.x * TX, y0 = blockIdx.y * TY, z0 = blockIdx.z * ZB;
  const int tx = threadIdx.x % COLS * VX, ty = threadIdx.x / COLS * RY;
  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; s++) bar_init(full + 8 * s, 1);
    bar_init_done();
    for (int p = 0; p < STAGES && p < ZB + 2; p++) {
      bar_expect(full + 8 * p, BYTES);
      tma_3d(base + p * SLOT, &tin, x0 - 4, y0 - 1, z0 - 1 + p, full + 8 * p);
    }
  }
  __syncthreads();
  bar_wait(full, 0);
  bar_wait(full + 8, 0);
  float lo[RY][VX], mid[RY][VX];
  if (REGZ) {
    const float* a = (const float*)ring + (ty + 1) * PX + 4 + tx;
    const float* b = (const float*)(ring + SLOT) + (ty + 1) * PX + 4 + tx;
#pragma unroll
    for (int r = 0; r < RY; r++) {
      const Vec va = *(const Vec*)(a + r * PX), vb = *(const Vec*)(b + r * PX);
#pragma unroll
      for (int i = 0; i < VX; i++) {
        lo[r][i] = va.v[i];
        mid[r][i] = vb.v[i];
      }
    }
  }
  int sl = 0, sc = 1, sh = 2, ph = 0;
  for (int z = 0; z < ZB; z++) {
    bar_wait(full + 8 * sh, ph);
    const float* L = (const float*)(ring + sl * SLOT) + (ty + 1) * PX + 4 + tx;
    const float* Cn = (const float*)(ring + sc * SLOT) + (ty + 1) * PX + 4 + tx;
    const float* H = (const float*)(ring + sh * SLOT) + (ty + 1) * PX + 4 + tx;
    Vec res[RY];
#pragma unroll
    for (int r = 0; r < RY; r++) {
      const Vec up = *(const Vec*)(Cn + (r + 1) * PX), dn = *(const Vec*)(Cn + (r - 1) * PX), hi = *(const Vec*)(H + r * PX);
      if (!REGZ) {
        const Vec va = *(const Vec*)(L + r * PX), vb = *(const Vec*)(Cn + r * PX);
#pragma unroll
        for (int i = 0; i < VX; i++) {
          lo[r][i] = va.v[i];
          mid[r][i] = vb.v[i];
        }
      }
      const float west = Cn[r * PX - 1], east = Cn[r * PX + VX];
#pragma unroll
      for (int i = 0; i < VX; i++) {
        const float w = i ? mid[r][i ? i - 1 : 0] : west, e = i + 1 < VX ? mid[r][i + 1 < VX ? i + 1 : 0] : east;
        res[r].v[i] = c0 * mid[r][i] + c1 * (w + e + up.v[i] + dn.v[i]) + c2 * (lo[r][i] + hi.v[i]);
      }
#pragma unroll
      for (int i = 0; i < VX; i++) {
        lo[r][i] = mid[r][i];
        mid[r][i] = hi.v[i];
      }
    }
#if STORE
    unsigned char* buf = ring + STAGES * SLOT + (z & 1) * (TX * TY * 4);
    if (threadIdx.x == 0) asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
    __syncthreads();
#pragma unroll
    for (int r = 0; r < RY; r++) *(Vec*)((float*)buf + (ty + r) * TX + tx) = res[r];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#else
#pragma unroll
    for (int r = 0; r < RY; r++) *(Vec*)(out + ((size_t)(z0 + z) * Y + y0 + ty + r) * X + x0 + tx) = res[r];
#endif
    __syncthreads();
    if (threadIdx.x == 0) {
#if STORE
      asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%1, %2, %3}], [%4];" ::"l"(&tout), "r"(x0), "r"(y0), "r"(z0 + z), "r"(sm(buf)) : "memory");
      asm volatile("cp.async.bulk.commit_group;" ::: "memory");
#endif
      if (z + STAGES < ZB + 2) {
        bar_expect(full + 8 * sl, BYTES);
        tma_3d(base + sl * SLOT, &tin, x0 - 4, y0 - 1, z0 - 1 + z + STAGES, full + 8 * sl);
      }
    }
    sl = sl + 1 == STAGES ? 0 : sl + 1;
    sc = sc + 1 == STAGES ? 0 : sc + 1;
    if (++sh == STAGES) { sh = 0; ph ^= 1; }
  }
#if STORE
  if (threadIdx.x == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
#endif
}
