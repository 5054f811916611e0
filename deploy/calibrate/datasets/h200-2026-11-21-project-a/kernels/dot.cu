// Dot product: grid-stride, float4 if VEC is 4, warp shuffles, one atomic a block.
extern "C" __global__ void dot(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ r, int n) {
  float s = 0;
#if VEC == 4
  for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n / 4; i += gridDim.x * BLOCK) {
    float4 p = ((const float4*)a)[i], q = ((const float4*)b)[i];
    s += p.x * q.x + p.y * q.y + p.z * q.z + p.w * q.w;
  }
#else
  for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += gridDim.x * BLOCK) s += a[i] * b[i];
#endif
  __shared__ float part[32];
  for (int d = 16; d; d >>= 1) s += __shfl_down_sync(0xffffffffu, s, d);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = s;
  __syncthreads();
  if (threadIdx.x < 32) {
    s = threadIdx.x < BLOCK / 32 ? part[threadIdx.x] : 0.0f;
    for (int d = 16; d; d >>= 1) s += __shfl_down_sync(0xffffffffu, s, d);
    if (threadIdx.x == 0) atomicAdd(r, s);
  }
}
