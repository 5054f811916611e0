// Nearest of 16 centres in 8 dimensions: centres in shared memory or read through the cache.
extern "C" __global__ void kmeans_assign(const float* __restrict__ p, const float* __restrict__ c, int* __restrict__ label, int n) {
#if USE_SMEM
  __shared__ float s[16 * 8];
  for (int i = threadIdx.x; i < 128; i += BLOCK) s[i] = c[i];
  __syncthreads();
#define C(k, d) s[(k) * 8 + (d)]
#else
#define C(k, d) c[(k) * 8 + (d)]
#endif
  int base = blockIdx.x * (BLOCK * ITEMS) + threadIdx.x;
#pragma unroll 1
  for (int q = 0; q < ITEMS; ++q) {
    int i = base + q * BLOCK;
    float x[8];
#pragma unroll
    for (int d = 0; d < 8; ++d)
#if SOA
      x[d] = p[(size_t)d * n + i];
#else
      x[d] = p[(size_t)i * 8 + d];
#endif
    float best = 1e30f;
    int at = 0;
#pragma unroll
    for (int k = 0; k < 16; ++k) {
      float s2 = 0;
#pragma unroll
      for (int d = 0; d < 8; ++d) { float e = x[d] - C(k, d); s2 += e * e; }
      if (s2 < best) { best = s2; at = k; }
    }
    label[i] = at;
  }
}
