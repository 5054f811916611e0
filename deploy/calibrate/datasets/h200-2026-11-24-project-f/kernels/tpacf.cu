// A histogram of angles between directions: products of pairs, the bin by bisection of bounds in constant memory, counted in COPIES histograms in shared memory.
__constant__ float bound[32];
extern "C" __global__ void tpacf(const float* __restrict__ x, const float* __restrict__ y, const float* __restrict__ z, unsigned* __restrict__ bins, int n) {
  __shared__ unsigned h[COPIES][33];
  __shared__ float sx[TILE], sy[TILE], sz[TILE];
  for (int k = threadIdx.x; k < COPIES * 33; k += BLOCK) h[0][k] = 0;
  int i = blockIdx.x * BLOCK + threadIdx.x;
  float px = x[i], py = y[i], pz = z[i];
  unsigned* mine = h[threadIdx.x % COPIES];
  for (int t = blockIdx.y * (n / 16); t < (blockIdx.y + 1) * (n / 16); t += TILE) {
    __syncthreads();
    for (int k = threadIdx.x; k < TILE; k += BLOCK) sx[k] = x[t + k], sy[k] = y[t + k], sz[k] = z[t + k];
    __syncthreads();
#pragma unroll UNROLL
    for (int k = 0; k < TILE; ++k) {
      float dot = px * sx[k] + py * sy[k] + pz * sz[k];
      int low = 0, high = 32;
      while (high > low + 1) {
        int mid = (low + high) / 2;
        if (dot >= bound[mid]) high = mid;
        else low = mid;
      }
      atomicAdd(mine + low, 1u);
    }
  }
  __syncthreads();
  for (int k = threadIdx.x; k < 33; k += BLOCK) {
    unsigned s = 0;
    for (int c = 0; c < COPIES; ++c) s += h[c][k];
    atomicAdd(bins + k, s);
  }
}
