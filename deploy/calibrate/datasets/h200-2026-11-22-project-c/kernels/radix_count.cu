// How often each digit of eight bits occurs in each block's part: warps count in COPIES tables of shared memory, whose places are PAD words further apart.
extern "C" __global__ void radix_count(const unsigned* __restrict__ keys, unsigned* __restrict__ counts, int shift) {
  __shared__ unsigned table[COPIES][256 + PAD];
  for (int i = threadIdx.x; i < COPIES * (256 + PAD); i += BLOCK) (&table[0][0])[i] = 0;
  __syncthreads();
  size_t base = (size_t)blockIdx.x * BLOCK * ITEMS;
  unsigned* mine = table[threadIdx.x / 32 % COPIES];
#pragma unroll
  for (int k = 0; k < ITEMS; ++k) atomicAdd(&mine[keys[base + k * BLOCK + threadIdx.x] >> shift & 255], 1u);
  __syncthreads();
  for (int d = threadIdx.x; d < 256; d += BLOCK) {
    unsigned n = 0;
#pragma unroll
    for (int c = 0; c < COPIES; ++c) n += table[c][d];
    counts[(size_t)d * gridDim.x + blockIdx.x] = n;
  }
}
