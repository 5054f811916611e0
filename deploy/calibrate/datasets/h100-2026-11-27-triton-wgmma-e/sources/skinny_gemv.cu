// Y[NB,N] = X[NB,K] W[N,K]^T, bf16, a handful of rows of X (decoding): a warp takes ROWS rows of W, KW warps share a row.
// Macros: NB, WARPS, KW (divides WARPS), ROWS, VEC elements a load (2, 4, 8), UNROLL steps of K in flight, XS 1: X in shared memory first, NOALLOC 1: weights pass L1 by
#include <cstdint>
#include <cuda_bf16.h>
namespace {
constexpr int TEAMS = WARPS / KW, STEP = 32 * VEC;
template <int V> struct Raw;
template <> struct Raw<2> { uint32_t v[1]; };
template <> struct Raw<4> { uint32_t v[2]; };
template <> struct Raw<8> { uint32_t v[4]; };
__device__ __forceinline__ Raw<VEC> load_w(const __nv_bfloat16* p) {
  Raw<VEC> r;
#if NOALLOC
#if VEC == 8
  asm volatile("ld.global.nc.L1::no_allocate.v4.b32 {%0, %1, %2, %3}, [%4];" : "=r"(r.v[0]), "=r"(r.v[1]), "=r"(r.v[2]), "=r"(r.v[3]) : "l"(p));
#elif VEC == 4
  asm volatile("ld.global.nc.L1::no_allocate.v2.b32 {%0, %1}, [%2];" : "=r"(r.v[0]), "=r"(r.v[1]) : "l"(p));
#else
  asm volatile("ld.global.nc.L1::no_allocate.b32 %0, [%1];" : "=r"(r.v[0]) : "l"(p));
#endif
#else
#if VEC == 8
  const uint4 u = *reinterpret_cast<const uint4*>(p);
  r.v[0] = u.x; r.v[1] = u.y; r.v[2] = u.z; r.v[3] = u.w;
#elif VEC == 4
  const uint2 u = *reinterpret_cast<const uint2*>(p);
  r.v[0] = u.x; r.v[1] = u.y;
#else
  r.v[0] = *reinterpret_cast<const uint32_t*>(p);
#endif
#endif
  return r;
}
__device__ __forceinline__ Raw<VEC> load_x(const __nv_bfloat16* p) {
  Raw<VEC> r;
#if VEC == 8
  const uint4 u = *reinterpret_cast<const uint4*>(p);
  r.v[0] = u.x; r.v[1] = u.y; r.v[2] = u.z; r.v[3] = u.w;
#elif VEC == 4
  const uint2 u = *reinterpret_cast<const uint2*>(p);
  r.v[0] = u.x; r.v[1] = u.y;
#else
  r.v[0] = *reinterpret_cast<const uint32_t*>(p);
#endif
  return r;
}
__device__ __forceinline__ float2 two(uint32_t u) { return make_float2(__uint_as_float(u << 16), __uint_as_float(u & 0xffff0000u)); }
}  // namespace

extern "C" __global__ void __launch_bounds__(32 * WARPS)
skinny_gemv(const __nv_bfloat16* __restrict__ X, const __nv_bfloat16* __restrict__ W, __nv_bfloat16* __restrict__ Y, int N, int K) {
  extern __shared__ __align__(16) uint8_t raw[];
  __shared__ float part[WARPS][ROWS][NB];
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, team = warp / KW, kw = warp % KW;
#if XS
  for (int i = threadIdx.x; i < NB * K / 8; i += 32 * WARPS) reinterpret_cast<uint4*>(raw)[i] = reinterpret_cast<const uint4*>(X)[i];
  __syncthreads();
  const __nv_bfloat16* x = reinterpret_cast<const __nv_bfloat16*>(raw);
#else
  const __nv_bfloat16* x = X;
#endif
  const int n0 = (blockIdx.x * TEAMS + team) * ROWS;
  float acc[ROWS][NB] = {};
  const __nv_bfloat16* w[ROWS];
#pragma unroll
  for (int r = 0; r < ROWS; ++r) w[r] = W + (size_t)min(n0 + r, N - 1) * K;
  for (int k = kw * STEP * UNROLL + lane * VEC; k < K; k += KW * STEP * UNROLL) {
    Raw<VEC> wv[UNROLL][ROWS];
#pragma unroll
    for (int u = 0; u < UNROLL; ++u)
#pragma unroll
      for (int r = 0; r < ROWS; ++r) wv[u][r] = load_w(w[r] + k + u * STEP);
#pragma unroll
    for (int u = 0; u < UNROLL; ++u)
#pragma unroll
      for (int b = 0; b < NB; ++b) {
        const Raw<VEC> xv = load_x(x + b * K + k + u * STEP);
#pragma unroll
        for (int r = 0; r < ROWS; ++r)
#pragma unroll
          for (int e = 0; e < VEC / 2; ++e) {
            const float2 a = two(wv[u][r].v[e]), c = two(xv.v[e]);
            acc[r][b] = fmaf(a.x, c.x, acc[r][b]);
            acc[r][b] = fmaf(a.y, c.y, acc[r][b]);
          }
      }
  }
#pragma unroll
  for (int r = 0; r < ROWS; ++r)
#pragma unroll
    for (int b = 0; b < NB; ++b) {
      float s = acc[r][b];
#pragma unroll
      for (int d = 16; d; d >>= 1) s += __shfl_xor_sync(~0u, s, d);
      if (KW == 1) {
        if (lane == 0 && n0 + r < N) Y[(size_t)b * N + n0 + r] = __float2bfloat16(s);
      } else if (lane == 0) part[warp][r][b] = s;
    }
  if (KW > 1) {
    __syncthreads();
    for (int i = threadIdx.x; i < TEAMS * ROWS * NB; i += 32 * WARPS) {
      const int t = i / (ROWS * NB), r = i / NB % ROWS, b = i % NB, n = (blockIdx.x * TEAMS + t) * ROWS + r;
      float s = 0.f;
#pragma unroll
      for (int j = 0; j < KW; ++j) s += part[t * KW + j][r][b];
      if (n < N) Y[(size_t)b * N + n] = __float2bfloat16(s);
    }
  }
}
