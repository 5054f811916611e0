// Integer mixing, ROUNDS times, ILP chains a thread.
extern "C" __global__ void hash_mix(const unsigned* __restrict__ in, unsigned* __restrict__ out, int n) {
  int base = blockIdx.x * (BLOCK * ILP) + threadIdx.x;
  unsigned h[ILP];
#pragma unroll
  for (int k = 0; k < ILP; ++k) h[k] = in[base + k * BLOCK];
#pragma unroll UNROLL
  for (int r = 0; r < 32; ++r)
#pragma unroll
    for (int k = 0; k < ILP; ++k) {
      unsigned v = h[k];
      v ^= v >> 16; v *= 0x85ebca6bu; v ^= v >> 13; v *= 0xc2b2ae35u; v ^= v >> 16;
      h[k] = (v << 7 | v >> 25) + __popc(v) + r;
    }
#pragma unroll
  for (int k = 0; k < ILP; ++k) out[base + k * BLOCK] = h[k];
}
