// Log-likelihood of points under a mixture of 96 isotropic Gaussians in constant memory: PER points a thread.
#define PARTS 96
__constant__ float4 parts[PARTS];
extern "C" __global__ void gmm(const float* __restrict__ x, const float* __restrict__ y, float* __restrict__ out, int n) {
  int i = blockIdx.x * (BLOCK * PER) + threadIdx.x;
  float px[PER], py[PER], s[PER];
#pragma unroll
  for (int k = 0; k < PER; ++k) { px[k] = x[i + k * BLOCK]; py[k] = y[i + k * BLOCK]; s[k] = 0; }
#if UNROLL == 4
#pragma unroll 4
#else
#pragma unroll 1
#endif
  for (int a = 0; a < PARTS; ++a) {
    float4 q = parts[a];
#pragma unroll
    for (int k = 0; k < PER; ++k) { float dx = px[k] - q.x, dy = py[k] - q.y; s[k] += q.w * exp2f(-q.z * (dx * dx + dy * dy)); }
  }
#pragma unroll
  for (int k = 0; k < PER; ++k) out[i + k * BLOCK] = log2f(s[k]);
}
