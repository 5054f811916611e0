// Sum of an array in one launch. VARIANT 0: every thread adds its part to the result atomically; 1: one atomic a warp,
// after shuffles; 2: one atomic a block; 3: block sums are stored and the block that finishes last adds them up.
__device__ float warp_sum(float v) {
#pragma unroll
  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);
  return v;
}
__device__ float block_sum(float v, float* s) {
  int t = threadIdx.x;
  v = warp_sum(v);
  if (t % 32 == 0) s[t / 32] = v;
  __syncthreads();
  if (t < 32) v = warp_sum(t < BLOCK_SIZE / 32 ? s[t] : 0.f);
  return v;
}
extern "C" __global__ void reduce_atomic(const float* __restrict__ in, float* sum, volatile float* partial, unsigned* finished, int n) {
  int t = threadIdx.x;
  int base = blockIdx.x * (BLOCK_SIZE * ITEMS) + t;
  float v = 0.f;
#pragma unroll
  for (int k = 0; k < ITEMS; ++k) {
    int i = base + k * BLOCK_SIZE;
    v += (i < n) ? in[i] : 0.f;
  }
#if VARIANT == 0
  atomicAdd(sum, v);
#elif VARIANT == 1
  v = warp_sum(v);
  if (t % 32 == 0) atomicAdd(sum, v);
#else
  __shared__ float s[32];
  v = block_sum(v, s);
#if VARIANT == 2
  if (t == 0) atomicAdd(sum, v);
#else
  __shared__ bool last;
  if (t == 0) {
    partial[blockIdx.x] = v;
    __threadfence();
    last = atomicInc(finished, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last) {
    v = 0.f;
    for (int b = t; b < gridDim.x; b += BLOCK_SIZE) v += partial[b];
    v = block_sum(v, s);
    if (t == 0) *sum = v;
  }
#endif
#endif
}
