// Look-ups in an open table of keys and values, next to each other or in arrays of their own, by linear probing.
extern "C" __global__ void hash_probe(const unsigned* __restrict__ query, const unsigned* __restrict__ table, const unsigned* __restrict__ payload, unsigned* __restrict__ out, int n, unsigned mask) {
  int first = blockIdx.x * BLOCK * EACH + threadIdx.x;
#pragma unroll
  for (int k = 0; k < EACH; ++k) {
    int i = first + k * BLOCK;
    if (i >= n) return;
    unsigned q = query[i], slot = q * 2654435761u >> 7 & mask, got = 0;
    for (int step = 0; step < 8; ++step, slot = (slot + 1) & mask) {
#if PAIRS
      uint2 e = ((const uint2*)table)[slot];
      unsigned key = e.x;
#else
      unsigned key = table[slot];
#endif
      if ((key & 3) == (q & 3)) {
#if PAIRS
        got = e.y;
#else
        got = payload[slot];
#endif
        break;
      }
    }
    out[i] = got;
  }
}
