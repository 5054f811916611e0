// Darts at a quarter circle: SAMPLES a thread, xorshift, ILP generators.
extern "C" __global__ void monte_carlo(int* __restrict__ hits, int samples) {
  unsigned s[ILP];
  int n = 0;
#pragma unroll
  for (int k = 0; k < ILP; ++k) s[k] = (blockIdx.x * BLOCK + threadIdx.x) * 9781u + k * 6271u + 1u;
#pragma unroll UNROLL
  for (int i = 0; i < samples; ++i)
#pragma unroll
    for (int k = 0; k < ILP; ++k) {
      s[k] ^= s[k] << 13; s[k] ^= s[k] >> 17; s[k] ^= s[k] << 5;
      float x = (s[k] & 0xffff) * (1.0f / 65536), y = (s[k] >> 16) * (1.0f / 65536);
      n += x * x + y * y < 1.0f;
    }
#if REDUCE
  for (int d = 16; d; d >>= 1) n += __shfl_down_sync(0xffffffffu, n, d);
  if (threadIdx.x % 32 == 0) atomicAdd(hits, n);
#else
  atomicAdd(hits, n);
#endif
}
