// y = A x: TPR threads share a row, loads are float4 when VEC is 4.
extern "C" __global__ void gemv(const float* __restrict__ a, const float* __restrict__ x, float* __restrict__ y, int n) {
  int lane = threadIdx.x % TPR, row = blockIdx.x * (BLOCK / TPR) + threadIdx.x / TPR;
  const float* r = a + (size_t)row * n;
  float s = 0;
#if VEC == 4
#pragma unroll UNROLL
  for (int c = lane * 4; c < n; c += TPR * 4) {
    float4 p = *(const float4*)(r + c), q = *(const float4*)(x + c);
    s += p.x * q.x + p.y * q.y + p.z * q.z + p.w * q.w;
  }
#else
#pragma unroll UNROLL
  for (int c = lane; c < n; c += TPR) s += r[c] * x[c];
#endif
  for (int d = TPR / 2; d; d >>= 1) s += __shfl_xor_sync(0xffffffffu, s, d);
  if (lane == 0) y[row] = s;
}
