// European options; ITEMS a thread, BLOCK apart.
__device__ __forceinline__ float cnd(float d) {
  float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
  float c = 0.39894228f * __expf(-0.5f * d * d) * (k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
  return d > 0 ? 1.0f - c : c;
}
extern "C" __global__ void black_scholes(const float* __restrict__ s, const float* __restrict__ x, const float* __restrict__ t, float* __restrict__ call, float* __restrict__ put, int n) {
  int base = blockIdx.x * (BLOCK * ITEMS) + threadIdx.x;
#pragma unroll
  for (int k = 0; k < ITEMS; ++k) {
    int i = base + k * BLOCK;
    if (i < n) {
      float S = s[i] + 1.0f, X = x[i] + 1.0f, T = t[i] + 0.1f;
      float q = sqrtf(T), d1 = (__logf(S / X) + (0.02f + 0.5f * 0.09f) * T) / (0.3f * q), d2 = d1 - 0.3f * q;
      float c1 = cnd(d1), c2 = cnd(d2), e = __expf(-0.02f * T);
      call[i] = S * c1 - X * e * c2;
      put[i] = X * e * (1.0f - c2) - S * (1.0f - c1);
    }
  }
}
