// Sorts chunks of 2*BLOCK*ITEMS keys in shared memory.
#define N (2 * BLOCK * ITEMS)
extern "C" __global__ void bitonic(const float* __restrict__ in, float* __restrict__ out) {
  __shared__ float s[N];
  size_t base = (size_t)blockIdx.x * N;
  for (int i = threadIdx.x; i < N; i += BLOCK) s[i] = in[base + i];
  for (int k = 2; k <= N; k <<= 1)
    for (int j = k >> 1; j; j >>= 1) {
      __syncthreads();
#pragma unroll
      for (int q = 0; q < ITEMS; ++q) {
        int t = threadIdx.x + q * BLOCK, i = 2 * t - (t & (j - 1)), p = i + j;
        float a = s[i], b = s[p];
        if ((a > b) == ((i & k) == 0)) { s[i] = b; s[p] = a; }
      }
    }
  __syncthreads();
  for (int i = threadIdx.x; i < N; i += BLOCK) out[base + i] = s[i];
}
