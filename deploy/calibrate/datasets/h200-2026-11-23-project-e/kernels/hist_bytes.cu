// Counts of the 256 values of bytes: COPIES counts of each in shared memory, by the warp; WORDS words a load.
#if WORDS == 4
typedef uint4 word;
#else
typedef unsigned word;
#endif
extern "C" __global__ void hist_bytes(const unsigned* __restrict__ x, unsigned* __restrict__ count, int n) {
  __shared__ unsigned h[COPIES][256];
  for (int i = threadIdx.x; i < COPIES * 256; i += BLOCK) (&h[0][0])[i] = 0;
  __syncthreads();
  unsigned* mine = h[threadIdx.x / 32 % COPIES];
  for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n / WORDS; i += CTAS * BLOCK) {
    word v = ((const word*)x)[i];
#pragma unroll
    for (int j = 0; j < WORDS; ++j) {
      unsigned u = ((const unsigned*)&v)[j];
#pragma unroll
      for (int b = 0; b < 4; ++b) atomicAdd(mine + (u >> 8 * b & 255), 1u);
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += BLOCK) {
    unsigned s = 0;
#pragma unroll
    for (int c = 0; c < COPIES; ++c) s += h[c][i];
    if (s) atomicAdd(count + i, s);
  }
}
