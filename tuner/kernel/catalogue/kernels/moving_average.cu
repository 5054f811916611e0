// Moving average over 2r+1 elements, r known at run time only. STAGE=1: the block's tile and its halo go through dynamic
// shared memory, whose size the launch gives; STAGE=0: every thread reads global memory and leaves the reuse to L1.
extern "C" __global__ void moving_average(const float* __restrict__ in, float* __restrict__ out, int n, int r) {
  const int TILE = BLOCK_SIZE * ITEMS;
  int base = blockIdx.x * TILE;
#if STAGE
  extern __shared__ float tile[];
  for (int l = threadIdx.x; l < TILE + 2 * r; l += BLOCK_SIZE) tile[l] = in[base + l];
  __syncthreads();
  const float* src = tile;
#else
  const float* src = in + base;
#endif
#pragma unroll
  for (int k = 0; k < ITEMS; ++k) {
    int l = threadIdx.x + k * BLOCK_SIZE;
    float s = 0.f;
#pragma unroll UNROLL
    for (int o = 0; o <= 2 * r; ++o) s += src[l + o];
    if (base + l < n) out[base + l] = s / (2 * r + 1);
  }
}
