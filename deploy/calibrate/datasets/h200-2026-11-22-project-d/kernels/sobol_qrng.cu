// Sobol numbers by Gray code: a block BLOCK*PER points of DIMS dimensions; a thread's points lie BLOCK apart, or next to each other, four a store (NEXT); direction vectors
// in shared or in constant memory (CONSTANT).
__constant__ unsigned directions[32 * 32];
extern "C" __global__ void sobol_qrng(const unsigned* __restrict__ table, float* __restrict__ out, int n) {
  int dim = blockIdx.y * DIMS;
#if CONSTANT
  const unsigned* v = directions + dim * 32;
#else
  __shared__ unsigned v[DIMS * 32];
  for (int i = threadIdx.x; i < DIMS * 32; i += BLOCK) v[i] = table[dim * 32 + i];
  __syncthreads();
#endif
  float* to = out + (size_t)dim * n;
  const float scale = 1.0f / 2147483648.0f;
#if NEXT
  int i = (blockIdx.x * BLOCK + threadIdx.x) * PER;
#else
  int i = blockIdx.x * (BLOCK * PER) + threadIdx.x;
#endif
  unsigned x[DIMS];
#pragma unroll
  for (int d = 0; d < DIMS; ++d) x[d] = 0;
  unsigned gray = i ^ (i >> 1);
  for (int k = 0; gray; ++k, gray >>= 1) {
    unsigned mask = -(gray & 1);
#pragma unroll
    for (int d = 0; d < DIMS; ++d) x[d] ^= mask & v[d * 32 + k];
  }
#if NEXT
#pragma unroll
  for (int k = 0; k < PER; k += 4, i += 4) {
    float y[DIMS][4];
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      int bit = __ffs(~(i + j)) - 1;
#pragma unroll
      for (int d = 0; d < DIMS; ++d) {
        y[d][j] = x[d] * scale;
        x[d] ^= v[d * 32 + bit];
      }
    }
    if (i < n)
#pragma unroll
      for (int d = 0; d < DIMS; ++d) *(float4*)(to + (size_t)d * n + i) = make_float4(y[d][0], y[d][1], y[d][2], y[d][3]);
  }
#else
  const int log = __ffs(BLOCK) - 1;
#pragma unroll
  for (int k = 0; k < PER; ++k, i += BLOCK) {
    int bit = __ffs(~(i | (BLOCK - 1))) - 1;
#pragma unroll
    for (int d = 0; d < DIMS; ++d) {
      if (i < n) to[(size_t)d * n + i] = x[d] * scale;
      x[d] ^= v[d * 32 + log - 1] ^ v[d * 32 + bit];
    }
  }
#endif
}
