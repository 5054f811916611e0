// The sum of 128 cubic polynomials in constant memory, by Horner's rule and where positive: PER arguments a thread.
#define CUBICS 128
__constant__ float4 coefficients[CUBICS];
extern "C" __global__ void cubics(const float* __restrict__ x, float* __restrict__ out, int n) {
  int i = blockIdx.x * (BLOCK * PER) + threadIdx.x;
  float v[PER], s[PER];
#pragma unroll
  for (int k = 0; k < PER; ++k) { v[k] = x[i + k * BLOCK]; s[k] = 0; }
#if UNROLL == 4
#pragma unroll 4
#else
#pragma unroll 1
#endif
  for (int a = 0; a < CUBICS; ++a) {
    float4 q = coefficients[a];
#pragma unroll
    for (int k = 0; k < PER; ++k) s[k] += fmaxf(((q.x * v[k] + q.y) * v[k] + q.z) * v[k] + q.w, 0.0f);
  }
#pragma unroll
  for (int k = 0; k < PER; ++k) out[i + k * BLOCK] = s[k];
}
