// Keys against a Bloom filter of blocks as Parquet has it: a key's block of 256 bits is chosen by the upper half of a hash, and in each of its eight words one bit by the lower half and the word's odd number. A block is read whole as two vectors (WAY 0), word after word until one says no (1), or the second vector only if the first says yes (2). PER keys a thread, their blocks asked for together (ABREAST) or one after the other; answers as bytes or as a word a warp (BITS).
__device__ __forceinline__ unsigned mix(unsigned k, unsigned c) {
  k ^= k >> 16, k *= 0x85ebca6bu;
  k ^= k >> 13, k *= c;
  return k ^ k >> 16;
}
__device__ __forceinline__ unsigned bit(unsigned h, int w) {
  const unsigned salt[8] = {0x47b6137bu, 0x44974d91u, 0x8824ad5bu, 0xa2b7289du, 0x705495c7u, 0x2df1424bu, 0x9efc4947u, 0x5c6bfb31u};
  return 1u << (h * salt[w] >> 27);
}
__device__ __forceinline__ bool all4(uint4 q, unsigned h, int w) { return (q.x & bit(h, w)) && (q.y & bit(h, w + 1)) && (q.z & bit(h, w + 2)) && (q.w & bit(h, w + 3)); }
extern "C" __global__ void __launch_bounds__(BLOCK) bloom_probe(const unsigned* __restrict__ key, const unsigned* __restrict__ filter, unsigned* __restrict__ answer, int blocks) {
  int i0 = blockIdx.x * BLOCK * PER + threadIdx.x;
#if ABREAST
  unsigned h[PER], at[PER];
#pragma unroll
  for (int p = 0; p < PER; ++p) {
    unsigned k = key[i0 + p * BLOCK];
    h[p] = mix(k, 0xc2b2ae35u);
    at[p] = (unsigned)((unsigned long long)mix(k, 0x27d4eb2fu) * (unsigned)blocks >> 32);
  }
  bool yes[PER];
  uint4 a[PER];
#if WAY == 0
  uint4 b[PER];
#endif
#pragma unroll
  for (int p = 0; p < PER; ++p) {
    a[p] = __ldg((const uint4*)filter + (size_t)at[p] * 2);
#if WAY == 0
    b[p] = __ldg((const uint4*)filter + (size_t)at[p] * 2 + 1);
#endif
  }
#pragma unroll
  for (int p = 0; p < PER; ++p) {
    yes[p] = all4(a[p], h[p], 0);
#if WAY == 0
    yes[p] = yes[p] && all4(b[p], h[p], 4);
#else
    if (yes[p]) yes[p] = all4(__ldg((const uint4*)filter + (size_t)at[p] * 2 + 1), h[p], 4);
#endif
  }
#pragma unroll
  for (int p = 0; p < PER; ++p) {
#if BITS
    unsigned m = __ballot_sync(0xffffffffu, yes[p]);
    if (threadIdx.x % 32 == 0) answer[(i0 + p * BLOCK) / 32] = m;
#else
    ((unsigned char*)answer)[i0 + p * BLOCK] = yes[p];
#endif
  }
#else
#pragma unroll 1
  for (int p = 0; p < PER; ++p) {
    unsigned k = key[i0 + p * BLOCK], hp = mix(k, 0xc2b2ae35u);
    const unsigned* f = filter + (unsigned)((unsigned long long)mix(k, 0x27d4eb2fu) * (unsigned)blocks >> 32) * 8ull;
    bool y = true;
#if WAY == 1
#pragma unroll
    for (int w = 0; w < 8; ++w)
      if (y) y = (__ldg(f + w) & bit(hp, w)) != 0;
#elif WAY == 2
    y = all4(__ldg((const uint4*)f), hp, 0);
    if (y) y = all4(__ldg((const uint4*)f + 1), hp, 4);
#else
    uint4 q = __ldg((const uint4*)f), r = __ldg((const uint4*)f + 1);
    y = all4(q, hp, 0) & all4(r, hp, 4);
#endif
#if BITS
    unsigned m = __ballot_sync(0xffffffffu, y);
    if (threadIdx.x % 32 == 0) answer[(i0 + p * BLOCK) / 32] = m;
#else
    ((unsigned char*)answer)[i0 + p * BLOCK] = y;
#endif
  }
#endif
}
