// The KEEP largest of each row of 4096 scores: a warp a row, each lane keeps its own by insertion, then the warp takes the largest of all KEEP times.
extern "C" __global__ void topk(const float* __restrict__ scores, float* __restrict__ out, int rows) {
  int lane = threadIdx.x % 32, row = blockIdx.x * WARPS + threadIdx.x / 32;
  if (row >= rows) return;
  const float* s = scores + (size_t)row * 4096;
  float top[KEEP];
#pragma unroll
  for (int k = 0; k < KEEP; ++k) top[k] = -1e30f;
#pragma unroll AHEAD
  for (int i = 0; i < 4096 / 32; ++i) {
    float v = s[i * 32 + lane];
#if GUARD
    if (v > top[KEEP - 1])
#endif
#pragma unroll
    for (int k = 0; k < KEEP; ++k) {
      float high = fmaxf(top[k], v);
      v = fminf(top[k], v);
      top[k] = high;
    }
  }
  for (int k = 0; k < KEEP; ++k) {
    float m = top[0];
    for (int d = 16; d; d >>= 1) m = fmaxf(m, __shfl_xor_sync(~0u, m, d));
    if (lane == 0) out[(size_t)row * KEEP + k] = m;
    unsigned who = __ballot_sync(~0u, top[0] == m);
    if (lane == __ffs(who) - 1) {
#pragma unroll
      for (int j = 0; j < KEEP - 1; ++j) top[j] = top[j + 1];
      top[KEEP - 1] = -1e30f;
    }
  }
}
