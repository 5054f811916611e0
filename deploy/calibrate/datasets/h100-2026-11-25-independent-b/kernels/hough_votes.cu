// Hough transform for lines: points packed as x and y vote for their distance under 180 angles, ANGLES of them a CTA with counts in shared memory, whole words or two counts a word (SMALL); SPLIT CTAs share the points, EACH of them read at once; what was counted is added to the result by atomics.
#define BINS 2912
#define MIDDLE 1456
#define WORDS (SMALL ? BINS / 2 : BINS)
#if EACH == 4
typedef uint4 word;
#elif EACH == 2
typedef uint2 word;
#else
typedef unsigned word;
#endif
extern "C" __global__ void __launch_bounds__(BLOCK) hough_votes(const unsigned* __restrict__ point, int* __restrict__ votes, int n) {
  __shared__ unsigned count[ANGLES][WORDS];
  int a0 = blockIdx.x * ANGLES;
  float sn[ANGLES], cs[ANGLES];
#pragma unroll
  for (int a = 0; a < ANGLES; ++a) sincospif((a0 + a) * (1.0f / 180.0f), &sn[a], &cs[a]);
  for (int k = threadIdx.x; k < ANGLES * WORDS; k += BLOCK) (&count[0][0])[k] = 0;
  __syncthreads();
  for (int i = blockIdx.y * BLOCK + threadIdx.x; i < n / EACH; i += SPLIT * BLOCK) {
    word w = ((const word*)point)[i];
    const unsigned* p = (const unsigned*)&w;
#pragma unroll
    for (int e = 0; e < EACH; ++e) {
      float x = (float)(p[e] & 1023), y = (float)(p[e] >> 10);
#pragma unroll
      for (int a = 0; a < ANGLES; ++a) {
        int bin = __float2int_rn(x * cs[a] + y * sn[a]) + MIDDLE;
#if SMALL
        atomicAdd(&count[a][bin >> 1], bin & 1 ? 65536u : 1u);
#else
        atomicAdd(&count[a][bin], 1u);
#endif
      }
    }
  }
  __syncthreads();
  for (int k = threadIdx.x; k < ANGLES * WORDS; k += BLOCK) {
    unsigned c = (&count[0][0])[k];
#if SMALL
    int* to = votes + (size_t)a0 * BINS + 2 * k;
    if (c & 65535) atomicAdd(to, (int)(c & 65535));
    if (c >> 16) atomicAdd(to + 1, (int)(c >> 16));
#else
    if (c) atomicAdd(votes + (size_t)a0 * BINS + k, (int)c);
#endif
  }
}
