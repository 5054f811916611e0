// Histogram of bytes. COPIES=0: atomics on the result in global memory; else the block counts in COPIES shared histograms,
// a warp using one of them, and adds their sums to the result. More copies collide less and take 1 KiB each.
extern "C" __global__ void histogram(const unsigned char* __restrict__ in, unsigned* __restrict__ bins, int n) {
#if COPIES
  __shared__ unsigned s[COPIES * 256];
  for (int b = threadIdx.x; b < COPIES * 256; b += BLOCK_SIZE) s[b] = 0;
  __syncthreads();
  unsigned* mine = s + (threadIdx.x / 32) % COPIES * 256;
#else
  unsigned* mine = bins;
#endif
  int base = blockIdx.x * (BLOCK_SIZE * ITEMS) + threadIdx.x;
#pragma unroll 4
  for (int k = 0; k < ITEMS; ++k) {
    int i = base + k * BLOCK_SIZE;
    if (i < n) atomicAdd(mine + in[i], 1u);
  }
#if COPIES
  __syncthreads();
  for (int b = threadIdx.x; b < 256; b += BLOCK_SIZE) {
    unsigned c = 0;
#pragma unroll
    for (int k = 0; k < COPIES; ++k) c += s[k * 256 + b];
    if (c) atomicAdd(bins + b, c);
  }
#endif
}
