// A rank-1 update fused with a matrix-vector product: C = A + u v^T and y = C x in one sweep over the matrix, as in Householder or quasi-Newton steps. BX threads with vectors of VEC share ROWS rows, BY such teams a CTA; v and x come through the caches or are brought to shared memory (STAGE); the matrix is read and written as streaming data or not (STREAM). Sums by shuffles, then over the team's warps through shared memory.
#define WARPS (BX / 32)
#if VEC == 4
typedef float4 vec;
#elif VEC == 2
typedef float2 vec;
#else
typedef float vec;
#endif
union pack { vec v; float f[VEC]; };
#if STREAM
#define LOAD(p) __ldcs(p)
#define STORE(p, v) __stcs(p, v)
#else
#define LOAD(p) __ldg(p)
#define STORE(p, v) (*(p) = (v))
#endif
extern "C" __global__ void __launch_bounds__(BX * BY) ger_gemv(const float* __restrict__ A, const float* __restrict__ u, const float* __restrict__ v, const float* __restrict__ x, float* __restrict__ C, float* __restrict__ y, int columns) {
  extern __shared__ __align__(16) float stage[];
  int tx = threadIdx.x, ty = threadIdx.y, row0 = (blockIdx.x * BY + ty) * ROWS;
#if STAGE
  float* sv = stage;
  float* sx = stage + columns;
  for (int k = (ty * BX + tx) * 4; k < columns; k += BX * BY * 4) {
    *(float4*)(sv + k) = __ldg((const float4*)(v + k));
    *(float4*)(sx + k) = __ldg((const float4*)(x + k));
  }
  __syncthreads();
#endif
  float ur[ROWS], sum[ROWS];
#pragma unroll
  for (int r = 0; r < ROWS; ++r) ur[r] = __ldg(u + row0 + r), sum[r] = 0.0f;
  const float* from = A + (size_t)row0 * columns;
  float* to = C + (size_t)row0 * columns;
#pragma unroll 2
  for (int j = tx * VEC; j < columns; j += BX * VEC) {
    pack a[ROWS], pv, px;
#pragma unroll
    for (int r = 0; r < ROWS; ++r) a[r].v = LOAD((const vec*)(from + (size_t)r * columns + j));
#if STAGE
    pv.v = *(const vec*)(sv + j), px.v = *(const vec*)(sx + j);
#else
    pv.v = __ldg((const vec*)(v + j)), px.v = __ldg((const vec*)(x + j));
#endif
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
#pragma unroll
      for (int e = 0; e < VEC; ++e) {
        a[r].f[e] = fmaf(ur[r], pv.f[e], a[r].f[e]);
        sum[r] = fmaf(a[r].f[e], px.f[e], sum[r]);
      }
      STORE((vec*)(to + (size_t)r * columns + j), a[r].v);
    }
  }
#pragma unroll
  for (int r = 0; r < ROWS; ++r)
#pragma unroll
    for (int o = 16; o > 0; o /= 2) sum[r] += __shfl_xor_sync(0xffffffffu, sum[r], o);
#if WARPS > 1
  __shared__ float part[BY][WARPS][ROWS];
  if (tx % 32 == 0)
#pragma unroll
    for (int r = 0; r < ROWS; ++r) part[ty][tx / 32][r] = sum[r];
  __syncthreads();
  if (tx < ROWS) {
    float s = 0.0f;
#pragma unroll
    for (int w = 0; w < WARPS; ++w) s += part[ty][w][tx];
    y[row0 + tx] = s;
  }
#else
  if (tx == 0)
#pragma unroll
    for (int r = 0; r < ROWS; ++r) y[row0 + r] = sum[r];
#endif
}
