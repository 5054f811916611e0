// A bank of filters, each with its own spacing of taps: y[f][n] = sum of h[f][k] x[n + k d[f]].
extern "C" __global__ void fir_bank(const float* __restrict__ x, const float* __restrict__ taps, const int* __restrict__ spacing, float* __restrict__ y, int n, int length) {
  int at = blockIdx.x * BX * EACH + threadIdx.x, f = blockIdx.y * BY + threadIdx.y, d = spacing[f];
  float sum[EACH] = {};
#pragma unroll UNROLL
  for (int k = 0; k < length; ++k) {
    float h = taps[f * length + k];
#pragma unroll
    for (int e = 0; e < EACH; ++e) sum[e] += h * x[at + e * BX + k * d];
  }
#pragma unroll
  for (int e = 0; e < EACH; ++e) y[f * n + at + e * BX] = sum[e];
}
