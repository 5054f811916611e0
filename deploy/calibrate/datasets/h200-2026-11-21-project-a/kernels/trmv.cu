// y = L x for a lower triangle: a warp a row, so that rows differ in length.
extern "C" __global__ void trmv(const float* __restrict__ l, const float* __restrict__ x, float* __restrict__ y, int n) {
  int lane = threadIdx.x % 32, row = blockIdx.x * (BLOCK / 32) + threadIdx.x / 32;
#if FLIP
  row = n - 1 - row;
#endif
  float s = 0;
#pragma unroll UNROLL
  for (int c = lane; c <= row; c += 32) s += l[(size_t)row * n + c] * x[c];
  for (int d = 16; d; d >>= 1) s += __shfl_xor_sync(0xffffffffu, s, d);
  if (lane == 0) y[row] = s;
}
