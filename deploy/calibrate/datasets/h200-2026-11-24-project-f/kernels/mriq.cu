// Sums over samples in k-space of cosines and sines, samples by tiles in shared memory or read by all threads from global memory.
extern "C" __global__ void mriq(const float4* __restrict__ sample, const float* __restrict__ x, const float* __restrict__ y, const float* __restrict__ z, float* __restrict__ real, float* __restrict__ imaginary, int n, int samples) {
  int first = blockIdx.x * BLOCK * VOXELS + threadIdx.x;
  float px[VOXELS], py[VOXELS], pz[VOXELS], re[VOXELS], im[VOXELS];
#pragma unroll
  for (int v = 0; v < VOXELS; ++v) {
    int i = min(first + v * BLOCK, n - 1);
    px[v] = x[i], py[v] = y[i], pz[v] = z[i], re[v] = im[v] = 0;
  }
#if TILED
  __shared__ float4 s[BLOCK];
  for (int t = 0; t < samples; t += BLOCK) {
    __syncthreads();
    s[threadIdx.x] = sample[t + threadIdx.x];
    __syncthreads();
#pragma unroll UNROLL
    for (int k = 0; k < BLOCK; ++k) {
      float4 q = s[k];
#else
  {
#pragma unroll UNROLL
    for (int k = 0; k < samples; ++k) {
      float4 q = sample[k];
#endif
#pragma unroll
      for (int v = 0; v < VOXELS; ++v) {
        float arg = 6.2831853f * (q.x * px[v] + q.y * py[v] + q.z * pz[v]);
        re[v] += q.w * __cosf(arg);
        im[v] += q.w * __sinf(arg);
      }
    }
  }
#pragma unroll
  for (int v = 0; v < VOXELS; ++v)
    if (first + v * BLOCK < n) real[first + v * BLOCK] = re[v], imaginary[first + v * BLOCK] = im[v];
}
