// C[M,N] (+)= sum over t of A[t,M] * B[t,N], bf16 in, float out. Both operands come as they lie (K outermost) by TMA, 64 columns a box,
// and go into wgmma transposed.
// Macros: WGS consumer warpgroups, MT tiles of 64 rows each, BN, BK, STAGES, SPLITK (gridDim.z), SPECIAL 1: a warp of its own issues the copies,
// VEC2 1: red.v2 where the sum is split, NFAST 1: neighbouring blocks go along N
#include "hop.cuh"
#include "tn_ops.cuh"

namespace {
constexpr int kBM = 64 * WGS * MT;
constexpr int kABox = BK * 128;                       // bytes of a box of 64 columns
constexpr int kABytes = kBM / 64 * kABox;
constexpr int kBBytes = BN / 64 * kABox;
constexpr int kStage = kABytes + kBBytes;
constexpr int kThreads = WGS * 128 + (SPECIAL ? 32 : 0);

// K outermost, 128-byte swizzle: lbo from one 64-column block to the next, sbo from 8 rows of K to the next 8
__device__ __forceinline__ uint64_t make_desc(uint32_t addr) {
  uint64_t d = (addr & 0x3FFFF) >> 4;
  d |= (uint64_t)(kABox >> 4) << 16;
  d |= (uint64_t)(1024 >> 4) << 32;
  d |= 1ull << 62;
  return d;
}

__device__ __forceinline__ void load_stage(uint32_t dst, const TMap* a, const TMap* b, int m0, int n0, int t, uint32_t bar) {
  bar_expect(bar, kStage);
#pragma unroll
  for (int i = 0; i < kBM / 64; ++i) tma_2d(dst + i * kABox, a, m0 + i * 64, t, bar);
#pragma unroll
  for (int i = 0; i < BN / 64; ++i) tma_2d(dst + kABytes + i * kABox, b, n0 + i * 64, t, bar);
}
}  // namespace

extern "C" __global__ void __launch_bounds__(kThreads)
wgrad_tn(const __grid_constant__ TMap map_a, const __grid_constant__ TMap map_b, float* __restrict__ C, int N, int T) {
  extern __shared__ __align__(1024) uint8_t smem_raw[];
  __shared__ __align__(8) uint64_t bars[2 * STAGES];
  const uint32_t smem = (sm(smem_raw) + 1023u) & ~1023u;
  const uint32_t full = sm(bars), empty = full + 8 * STAGES;
  const int m0 = (NFAST ? blockIdx.y : blockIdx.x) * kBM, n0 = (NFAST ? blockIdx.x : blockIdx.y) * BN;
  const int per = T / SPLITK, t0 = blockIdx.z * per, iters = per / BK;
  const int warp_group = threadIdx.x / 128;
  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; ++s) {
      bar_init(full + 8 * s, 1);
      bar_init(empty + 8 * s, WGS);
    }
    bar_init_done();
  }
  __syncthreads();

#if SPECIAL
  if (warp_group == WGS) {
    if ((threadIdx.x & 31) == 0)
      for (int i = 0; i < iters; ++i) {
        const int s = i % STAGES;
        if (i >= STAGES) bar_wait(empty + 8 * s, (i / STAGES - 1) & 1);
        load_stage(smem + s * kStage, &map_a, &map_b, m0, n0, t0 + i * BK, full + 8 * s);
      }
    return;
  }
#else
  if (threadIdx.x == 0)
    for (int i = 0; i < STAGES - 1 && i < iters; ++i) load_stage(smem + i * kStage, &map_a, &map_b, m0, n0, t0 + i * BK, full + 8 * i);
#endif

  float acc[MT][BN / 2];
#pragma unroll
  for (int m = 0; m < MT; ++m)
#pragma unroll
    for (int i = 0; i < BN / 2; ++i) acc[m][i] = 0.f;

  for (int i = 0; i < iters; ++i) {
    const int s = i % STAGES;
    bar_wait(full + 8 * s, (i / STAGES) & 1);
    const uint32_t a = smem + s * kStage + warp_group * MT * kABox, b = smem + s * kStage + kABytes;
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int k = 0; k < BK / 16; ++k)
#pragma unroll
      for (int m = 0; m < MT; ++m) MmaTN<BN>::run(acc[m], make_desc(a + m * kABox + k * 2048), make_desc(b + k * 2048), 1);
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
    if (i > 0 && (threadIdx.x & 127) == 0) bar_arrive(empty + 8 * ((i - 1) % STAGES));
#if !SPECIAL
    if (threadIdx.x == 0) {
      const int j = i + STAGES - 1, sj = j % STAGES;
      if (j < iters) {
        if (j >= STAGES) bar_wait(empty + 8 * sj, (j / STAGES - 1) & 1);
        load_stage(smem + sj * kStage, &map_a, &map_b, m0, n0, t0 + j * BK, full + 8 * sj);
      }
    }
    __syncwarp();
#endif
  }
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#pragma unroll
  for (int m = 0; m < MT; ++m)
#pragma unroll
    for (int i = 0; i < BN / 2; ++i) asm volatile("" : "+f"(acc[m][i])::"memory");

  const int lane = threadIdx.x & 31, warp = (threadIdx.x & 127) >> 5;
#pragma unroll
  for (int m = 0; m < MT; ++m) {
    float* p = C + (size_t)(m0 + (warp_group * MT + m) * 64 + warp * 16 + (lane >> 2)) * N + n0 + (lane & 3) * 2;
#pragma unroll
    for (int j = 0; j < BN / 8; ++j)
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        float* q = p + (size_t)h * 8 * N + j * 8;
        const float x = acc[m][4 * j + 2 * h], y = acc[m][4 * j + 2 * h + 1];
#if SPLITK == 1
        *reinterpret_cast<float2*>(q) = make_float2(x, y);
#elif VEC2
        asm volatile("red.global.add.v2.f32 [%0], {%1, %2};" ::"l"(q), "f"(x), "f"(y) : "memory");
#else
        atomicAdd(q, x);
        atomicAdd(q + 1, y);
#endif
      }
  }
}
