// Sums of each channel of images (STATS), or the images scaled by them: SPLIT CTAs a channel, each its share of the images.
#if VEC == 1
typedef float word;
#else
typedef float4 word;
#endif
extern "C" __global__ void channel_norm(const float* __restrict__ x, float* __restrict__ y, float* __restrict__ sums, int n, int channels, int area) {
  int c = blockIdx.x / SPLIT, part = blockIdx.x % SPLIT, words = area / VEC;
#if STATS
  float s = 0, q = 0;
#else
  float mean = sums[c], scale = rsqrtf(sums[channels + c] + 1e-5f) * sums[2 * channels + c], shift = sums[3 * channels + c];
#endif
  for (int image = part; image < n; image += SPLIT) {
    size_t base = ((size_t)image * channels + c) * area;
    for (int i = threadIdx.x; i < words; i += BLOCK) {
      word v = ((const word*)(x + base))[i];
#pragma unroll
      for (int j = 0; j < VEC; ++j) {
#if STATS
        float f = ((const float*)&v)[j];
        s += f, q += f * f;
#else
        float& f = ((float*)&v)[j];
        f = (f - mean) * scale + shift;
#endif
      }
#if !STATS
      ((word*)(y + base))[i] = v;
#endif
    }
  }
#if STATS
  __shared__ float ps[BLOCK / 32], pq[BLOCK / 32];
#pragma unroll
  for (int d = 16; d; d >>= 1) s += __shfl_down_sync(~0u, s, d), q += __shfl_down_sync(~0u, q, d);
  if (threadIdx.x % 32 == 0) ps[threadIdx.x / 32] = s, pq[threadIdx.x / 32] = q;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = 1; w < BLOCK / 32; ++w) s += ps[w], q += pq[w];
    atomicAdd(sums + c, s);
    atomicAdd(sums + channels + c, q);
  }
#endif
}
