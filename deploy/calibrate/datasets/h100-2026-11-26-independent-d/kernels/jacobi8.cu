// Singular values and left vectors of many 8 by 8 matrices by Jacobi's method on columns (Hestenes): a sweep turns each pair of columns until they stand at right angles; pairs are column c and c xor m, m from 1 to 7. LANES lanes of a warp share a matrix, 8/LANES columns each, and swap columns by shuffles. Matrices come and go directly (STAGE 0), or through shared memory (1), there with a gap between matrices (2); columns' lengths are computed anew for each pair or carried along (NORMS); turns too small to matter are passed by (SKIP).
#define MINE (8 / LANES)
#define MATS (BLOCK / LANES)
#define SLOT (STAGE == 2 ? 68 : 64)
#if MINE == 8
typedef float4 vec;
#define V 4
#elif MINE == 4
typedef float4 vec;
#define V 4
#elif MINE == 2
typedef float2 vec;
#define V 2
#else
typedef float vec;
#define V 1
#endif
union pack {
  vec v;
  float f[V];
};
__device__ __forceinline__ float dot8(const float* a, const float* b) {
  float s = a[0] * b[0];
#pragma unroll
  for (int r = 1; r < 8; ++r) s = fmaf(a[r], b[r], s);
  return s;
}
// Cosine, sine and tangent for columns of squared lengths p and q and product g.
__device__ __forceinline__ void angle(float p, float q, float g, float& c, float& s, float& t) {
  float d = q - p, e = 2.0f * g;
  t = __fdividef(d < 0.0f ? -e : e, fabsf(d) + sqrtf(fmaf(d, d, e * e)) + 1e-30f);
  c = rsqrtf(fmaf(t, t, 1.0f));
  s = c * t;
}
extern "C" __global__ void __launch_bounds__(BLOCK) jacobi8(const float* __restrict__ in, float* __restrict__ vectors, float* __restrict__ values, int sweeps) {
  int t = threadIdx.x, lane = t % LANES, mat = t / LANES;
  size_t m0 = (size_t)blockIdx.x * MATS;
  float a[MINE][8];
#if STAGE
  extern __shared__ __align__(16) float stage[];
#pragma unroll 4
  for (int k = t; k < MATS * 16; k += BLOCK) *(float4*)(stage + k / 16 * SLOT + k % 16 * 4) = ((const float4*)(in + m0 * 64))[k];
  __syncthreads();
  float* mine = stage + mat * SLOT + lane * MINE;
#else
  const float* mine = in + (m0 + mat) * 64 + lane * MINE;
#endif
#pragma unroll
  for (int r = 0; r < 8; ++r)
#pragma unroll
    for (int j = 0; j < MINE; j += V) {
      pack p;
      p.v = *(const vec*)(mine + r * 8 + j);
#pragma unroll
      for (int v = 0; v < V; ++v) a[j + v][r] = p.f[v];
    }
  float len[MINE];
#pragma unroll
  for (int j = 0; j < MINE; ++j) len[j] = dot8(a[j], a[j]);
#pragma unroll 1
  for (int w = 0; w < sweeps; ++w) {
#pragma unroll
    for (int m = 1; m < 8; ++m) {
      if (m < MINE) {
#pragma unroll
        for (int j = 0; j < MINE; ++j) {
          int k = j ^ m;
          if (j < k) {
#if !NORMS
            len[j] = dot8(a[j], a[j]), len[k] = dot8(a[k], a[k]);
#endif
            float g = dot8(a[j], a[k]), c, s, tan;
#if SKIP
            if (g * g > 1e-12f * (len[j] * len[k]))
#endif
            {
              angle(len[j], len[k], g, c, s, tan);
#pragma unroll
              for (int r = 0; r < 8; ++r) {
                float x = a[j][r], y = a[k][r];
                a[j][r] = fmaf(c, x, -s * y), a[k][r] = fmaf(c, y, s * x);
              }
#if NORMS
              len[j] = fmaf(-tan, g, len[j]), len[k] = fmaf(tan, g, len[k]);
#endif
            }
          }
        }
      } else {
        bool low = lane < (lane ^ m / MINE);
        float b[MINE][8];
#if NORMS
        float other[MINE];
#endif
#pragma unroll
        for (int j = 0; j < MINE; ++j) {
#pragma unroll
          for (int r = 0; r < 8; ++r) b[j][r] = __shfl_xor_sync(0xffffffffu, a[j ^ m % MINE][r], m / MINE);
#if NORMS
          other[j] = __shfl_xor_sync(0xffffffffu, len[j ^ m % MINE], m / MINE);
#endif
        }
#pragma unroll
        for (int j = 0; j < MINE; ++j) {
#if NORMS
          float one = len[j], two = other[j];
#else
          float one = dot8(a[j], a[j]), two = dot8(b[j], b[j]);
#endif
          float g = dot8(a[j], b[j]), c, s, tan;
#if SKIP
          if (g * g > 1e-12f * (one * two))
#endif
          {
            angle(low ? one : two, low ? two : one, g, c, s, tan);
            s = low ? -s : s;
#pragma unroll
            for (int r = 0; r < 8; ++r) a[j][r] = fmaf(c, a[j][r], s * b[j][r]);
#if NORMS
            len[j] = fmaf(low ? -tan : tan, g, len[j]);
#endif
          }
        }
      }
    }
  }
#pragma unroll
  for (int j = 0; j < MINE; ++j) {
    float l = dot8(a[j], a[j]), f = rsqrtf(l + 1e-30f);
    values[(m0 + mat) * 8 + lane * MINE + j] = l * f;
#pragma unroll
    for (int r = 0; r < 8; ++r) a[j][r] *= f;
  }
#if STAGE
  float* to = mine;
#else
  float* to = vectors + (m0 + mat) * 64 + lane * MINE;
#endif
#pragma unroll
  for (int r = 0; r < 8; ++r)
#pragma unroll
    for (int j = 0; j < MINE; j += V) {
      pack p;
#pragma unroll
      for (int v = 0; v < V; ++v) p.f[v] = a[j + v][r];
      *(vec*)(to + r * 8 + j) = p.v;
    }
#if STAGE
  __syncthreads();
#pragma unroll 4
  for (int k = t; k < MATS * 16; k += BLOCK) ((float4*)(vectors + m0 * 64))[k] = *(const float4*)(stage + k / 16 * SLOT + k % 16 * 4);
#endif
}
