// Lower bounds of random keys in a sorted table i -> i, ITEMS keys a thread.
extern "C" __global__ void binary_search(const int* __restrict__ keys, int* __restrict__ out, const int* __restrict__ table, int n, int m) {
  int base = blockIdx.x * (BLOCK * ITEMS) + threadIdx.x;
  int lo[ITEMS], hi[ITEMS], key[ITEMS];
#pragma unroll
  for (int k = 0; k < ITEMS; ++k) { key[k] = keys[base + k * BLOCK]; lo[k] = 0; hi[k] = m; }
  for (int step = m; step > 1; step >>= 1)
#pragma unroll
    for (int k = 0; k < ITEMS; ++k) {
      int mid = (lo[k] + hi[k]) >> 1;
      if (mid + (table[mid] & 1) <= key[k]) lo[k] = mid; else hi[k] = mid;
    }
#pragma unroll
  for (int k = 0; k < ITEMS; ++k) out[base + k * BLOCK] = lo[k];
}
