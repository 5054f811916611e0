// C[M,N] = A[M,K] * B[N,K]^T by wgmma, TMA in, a cluster of CL blocks along M that each fetch a slice of B and send it to all.
// Macros: ELT 0 bf16 to bf16, 1 tf32 to float; WGS consumer warpgroups (64 rows each), BN, KCH chunks of 128 bytes of K a stage, STAGES,
// CL, PG 1: the producer is a warpgroup that gives registers away, 0: one warp; LAG 1: one product stays in flight
#include <cuda_bf16.h>
#include "hop.cuh"
#include "wgmma_ops.cuh"
#if ELT == 0
typedef __nv_bfloat16 Out;
constexpr int CHUNK = 64;
#else
typedef float Out;
constexpr int CHUNK = 32;
#endif
constexpr int BM = 64 * WGS;
constexpr int A_BYTES = BM * 128 * KCH, B_BYTES = BN * 128 * KCH;
constexpr int STAGE_BYTES = A_BYTES + B_BYTES;
constexpr int PRODUCERS = PG ? 128 : 32;
constexpr int THREADS = 128 * WGS + PRODUCERS;
#if PG && WGS == 2
#define GIVE 40
#define TAKE 232
#elif PG && WGS == 3
#define GIVE 32
#define TAKE 160
#endif

__device__ __forceinline__ uint64_t desc128(uint32_t addr) {
  return (uint64_t)((addr & 0x3FFFF) >> 4) | (1ull << 16) | (64ull << 32) | (1ull << 62);
}

extern "C" __global__ void __launch_bounds__(THREADS, 1)
#if CL > 1
__cluster_dims__(CL, 1, 1)
#endif
mc_gemm(const __grid_constant__ TMap ta, const __grid_constant__ TMap tb, Out* __restrict__ C, int M, int N, int K) {
  extern __shared__ __align__(1024) unsigned char raw[];
  const uint32_t tiles = (sm(raw) + 1023u) & ~1023u;
  const uint32_t full = tiles + STAGES * STAGE_BYTES, empty = full + STAGES * 8;
  const int group = threadIdx.x / 128, lane = threadIdx.x & 31;
  const int rank = CL > 1 ? (int)cluster_rank() : 0;
  const int m0 = blockIdx.x * BM, n0 = blockIdx.y * BN;
  const int steps = K / (CHUNK * KCH);
  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; s++) {
      bar_init(full + 8 * s, 1);
      bar_init(empty + 8 * s, CL * WGS * 4);
    }
    bar_init_done();
  }
  __syncthreads();
  if (CL > 1) cluster_sync_all();

  if (group == WGS) {
#ifdef GIVE
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(GIVE));
#endif
    if (threadIdx.x == WGS * 128) {
      asm volatile("prefetch.tensormap [%0];" ::"l"(&ta) : "memory");
      asm volatile("prefetch.tensormap [%0];" ::"l"(&tb) : "memory");
      int s = 0, ph = 1;
      for (int it = 0; it < steps; it++) {
        bar_wait_cluster(empty + 8 * s, ph);
        bar_expect(full + 8 * s, STAGE_BYTES);
        const uint32_t a = tiles + s * STAGE_BYTES, b = a + A_BYTES;
#pragma unroll
        for (int c = 0; c < KCH; c++) {
          const int x = (it * KCH + c) * CHUNK;
          tma_2d(a + c * BM * 128, &ta, x, m0, full + 8 * s);
          if (CL > 1)
            tma_2d_to_all(b + c * BN * 128 + rank * (BN / CL) * 128, &tb, x, n0 + rank * (BN / CL), full + 8 * s, (uint16_t)((1 << CL) - 1));
          else
            tma_2d(b + c * BN * 128, &tb, x, n0, full + 8 * s);
        }
        if (++s == STAGES) { s = 0; ph ^= 1; }
      }
    }
    __syncwarp();
  } else {
#ifdef TAKE
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(TAKE));
#endif
    float acc[BN / 2];
#pragma unroll
    for (int i = 0; i < BN / 2; i++) acc[i] = 0.f;
    int s = 0, ph = 0, last = 0;
    for (int it = 0; it < steps; it++) {
      bar_wait(full + 8 * s, ph);
      const uint32_t a = tiles + s * STAGE_BYTES + group * 64 * 128, b = tiles + s * STAGE_BYTES + A_BYTES;
      asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
      for (int c = 0; c < KCH; c++)
#pragma unroll
        for (int k = 0; k < 4; k++) {
#if ELT == 0
          Mma<BN>::bf16(acc, desc128(a + c * BM * 128 + k * 32), desc128(b + c * BN * 128 + k * 32), 1);
#else
          Mma<BN>::tf32(acc, desc128(a + c * BM * 128 + k * 32), desc128(b + c * BN * 128 + k * 32), 1);
#endif
        }
      asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
      if (LAG) {
        asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
        if (it > 0 && lane < CL) bar_arrive_at(empty + 8 * last, lane);
      } else {
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
        if (lane < CL) bar_arrive_at(empty + 8 * s, lane);
      }
      last = s;
      if (++s == STAGES) { s = 0; ph ^= 1; }
    }
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#pragma unroll
    for (int i = 0; i < BN / 2; i++) asm volatile("" : "+f"(acc[i])::"memory");
    const int row = m0 + group * 64 + ((threadIdx.x & 127) >> 5) * 16 + (lane >> 2);
    Out* p = C + (size_t)row * N + n0 + (lane & 3) * 2;
#pragma unroll
    for (int j = 0; j < BN / 8; j++) {
#if ELT == 0
      *(__nv_bfloat162*)(p + j * 8) = __floats2bfloat162_rn(acc[j * 4], acc[j * 4 + 1]);
      *(__nv_bfloat162*)(p + (size_t)8 * N + j * 8) = __floats2bfloat162_rn(acc[j * 4 + 2], acc[j * 4 + 3]);
#else
      *(float2*)(p + j * 8) = make_float2(acc[j * 4], acc[j * 4 + 1]);
      *(float2*)(p + (size_t)8 * N + j * 8) = make_float2(acc[j * 4 + 2], acc[j * 4 + 3]);
#endif
    }
  }
  if (CL > 1) cluster_sync_all();
}
