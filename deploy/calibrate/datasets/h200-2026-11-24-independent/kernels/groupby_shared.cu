// SELECT key, SUM(value), COUNT(*) GROUP BY key: a hash table in each CTA's shared memory, merged into the global one at the end; counts by each lane or by one lane of those with a key (MATCH).
#define FREE 0xffffffffu
extern "C" __global__ void groupby_shared(const unsigned* __restrict__ key, const float* __restrict__ value, float* __restrict__ sum, unsigned* __restrict__ count, int n) {
  __shared__ unsigned keys[SLOTS], counts[SLOTS];
  __shared__ float sums[SLOTS];
  for (int i = threadIdx.x; i < SLOTS; i += BLOCK) keys[i] = FREE, counts[i] = 0, sums[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += CTAS * BLOCK) {
    unsigned k = key[i];
    float v = value[i];
    unsigned slot = k * 2654435761u >> 16 & (SLOTS - 1);
    for (int tries = 0; tries < SLOTS; ++tries, slot = (slot + 1) & (SLOTS - 1)) {
      unsigned was = keys[slot];
      if (was == k) break;
      if (was == FREE) {
        was = atomicCAS(&keys[slot], FREE, k);
        if (was == FREE || was == k) break;
      }
    }
    atomicAdd(&sums[slot], v);
#if MATCH
    unsigned same = __match_any_sync(__activemask(), slot);
    if (__ffs(same) - 1 == (threadIdx.x & 31)) atomicAdd(&counts[slot], (unsigned)__popc(same));
#else
    atomicAdd(&counts[slot], 1u);
#endif
  }
  __syncthreads();
  for (int i = threadIdx.x; i < SLOTS; i += BLOCK)
    if (keys[i] != FREE) atomicAdd(sum + (keys[i] & 511), sums[i]), atomicAdd(count + (keys[i] & 511), counts[i]);
}
