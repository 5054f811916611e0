// Two sorted lists become one: a block finds where its tile starts and ends in both by binary search, brings it to shared memory, and each thread finds its own start there and
// merges ITEMS. Key i of a list is what is stored plus 16 i or 24 i. Shared memory skips a word after 32 (PAD); results go through it (STAGED) or are stored as they are.
#define TILE (BLOCK * ITEMS)
#if PAD
#define AT(i) ((i) + (i) / 32)
#else
#define AT(i) (i)
#endif
__device__ __forceinline__ int left(const int* a, int i) { return 16 * i + a[i]; }
__device__ __forceinline__ int right(const int* b, int i) { return 24 * i + b[i]; }
extern "C" __global__ void merge_path(const int* __restrict__ a, const int* __restrict__ b, int* __restrict__ out, int na, int nb) {
  __shared__ int s[AT(TILE + ITEMS) + 1], bound[2];
  int t = threadIdx.x, start = blockIdx.x * TILE, end = min(start + TILE, na + nb);
  if (t % 32 == 0 && t < 64) {
    int diagonal = t ? end : start, lo = max(0, diagonal - nb), hi = min(diagonal, na);
    while (lo < hi) {
      int mid = (lo + hi) >> 1;
      if (left(a, mid) <= right(b, diagonal - 1 - mid)) lo = mid + 1;
      else hi = mid;
    }
    bound[t / 32] = lo;
  }
  __syncthreads();
  int a0 = bound[0], b0 = start - a0, lefts = bound[1] - a0, count = end - start;
#pragma unroll
  for (int k = 0; k < ITEMS; ++k) {
    int i = k * BLOCK + t;
    if (i < count) s[AT(i)] = i < lefts ? left(a, a0 + i) : right(b, b0 + i - lefts);
  }
  __syncthreads();
  int diagonal = min(t * ITEMS, count), lo = max(0, diagonal - (count - lefts)), hi = min(diagonal, lefts);
  while (lo < hi) {
    int mid = (lo + hi) >> 1;
    if (s[AT(mid)] <= s[AT(lefts + diagonal - 1 - mid)]) lo = mid + 1;
    else hi = mid;
  }
  int x = lo, y = lefts + diagonal - lo, l = s[AT(x)], r = s[AT(y)], merged[ITEMS];
#pragma unroll
  for (int k = 0; k < ITEMS; ++k) {
    bool first = y >= count || (x < lefts && l <= r);
    merged[k] = first ? l : r;
    if (first) ++x, l = s[AT(x)];
    else ++y, r = s[AT(y)];
  }
#if STAGED
  __syncthreads();
#pragma unroll
  for (int k = 0; k < ITEMS; ++k) s[AT(t * ITEMS + k)] = merged[k];
  __syncthreads();
#pragma unroll
  for (int k = 0; k < ITEMS; ++k) {
    int i = k * BLOCK + t;
    if (i < count) out[start + i] = s[AT(i)];
  }
#else
#pragma unroll
  for (int k = 0; k < ITEMS; ++k)
    if (t * ITEMS + k < count) out[start + t * ITEMS + k] = merged[k];
#endif
}
