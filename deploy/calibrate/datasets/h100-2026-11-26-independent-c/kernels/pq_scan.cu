// Search for the nearest vectors in a product quantised index: a vector is sixteen bytes, the distance to a query is the sum of sixteen table entries. A CTA has the tables of QUERIES queries side by side in shared memory, as floats or cut to bfloat16 (NARROW), and every SPLIT-th stretch of the codes, PER codes a thread read at once; the best of each warp, found by shuffles, is stored.
#define PARTS 16
#if NARROW
typedef unsigned short entry;
#else
typedef float entry;
#endif
#define BYTES (QUERIES * (NARROW ? 2 : 4))
#if BYTES == 16
typedef uint4 pack;
#elif BYTES == 8
typedef uint2 pack;
#elif BYTES == 4
typedef unsigned pack;
#else
typedef unsigned short pack;
#endif
union group {
  pack p;
  entry e[QUERIES];
};
__device__ __forceinline__ float value(float e) { return e; }
__device__ __forceinline__ float value(unsigned short e) { return __uint_as_float((unsigned)e << 16); }
extern "C" __global__ void __launch_bounds__(BLOCK) pq_scan(const uint4* __restrict__ code, const float* __restrict__ table, float2* __restrict__ best, int n) {
  extern __shared__ __align__(16) unsigned char raw[];
  group* lut = (group*)raw;
  int t = threadIdx.x, q0 = blockIdx.y * QUERIES;
#pragma unroll 2
  for (int k = t; k < PARTS * 256; k += BLOCK) {
    group g;
#pragma unroll
    for (int q = 0; q < QUERIES; ++q) {
      float f = table[(size_t)(q0 + q) * PARTS * 256 + k];
#if NARROW
      g.e[q] = (unsigned short)(__float_as_uint(f) + 0x8000u >> 16);
#else
      g.e[q] = f;
#endif
    }
    lut[k].p = g.p;
  }
  __syncthreads();
  float least[QUERIES];
  int which[QUERIES];
#pragma unroll
  for (int q = 0; q < QUERIES; ++q) least[q] = 3e38f, which[q] = 0;
#pragma unroll 1
  for (int i0 = blockIdx.x * BLOCK * PER + t; i0 < n; i0 += SPLIT * BLOCK * PER) {
    uint4 c[PER];
#pragma unroll
    for (int p = 0; p < PER; ++p) c[p] = code[i0 + p * BLOCK];
#pragma unroll
    for (int p = 0; p < PER; ++p) {
      unsigned w[4] = {c[p].x, c[p].y, c[p].z, c[p].w};
      float sum[QUERIES];
#pragma unroll
      for (int q = 0; q < QUERIES; ++q) sum[q] = 0.0f;
#pragma unroll
      for (int m = 0; m < PARTS; ++m) {
        group g;
        g.p = lut[m * 256 + (w[m / 4] >> (m % 4 * 8) & 255u)].p;
#pragma unroll
        for (int q = 0; q < QUERIES; ++q) sum[q] += value(g.e[q]);
      }
#pragma unroll
      for (int q = 0; q < QUERIES; ++q)
        if (sum[q] < least[q]) least[q] = sum[q], which[q] = i0 + p * BLOCK;
    }
  }
#pragma unroll
  for (int q = 0; q < QUERIES; ++q) {
#pragma unroll
    for (int d = 16; d > 0; d /= 2) {
      float f = __shfl_xor_sync(0xffffffffu, least[q], d);
      int k = __shfl_xor_sync(0xffffffffu, which[q], d);
      if (f < least[q] || (f == least[q] && k < which[q])) least[q] = f, which[q] = k;
    }
    if (t % 32 == 0) best[((size_t)(q0 + q) * SPLIT + blockIdx.x) * (BLOCK / 32) + t / 32] = make_float2(least[q], __uint_as_float((unsigned)which[q]));
  }
}
