// Connected regions of an image of bytes, the first step: labels within tiles of TX by TY pixels in shared memory, four neighbours, PER pixels a thread. Trees joined at their roots by atomic minima (ALGORITHM 0), or labels that fall to their neighbours' smallest and jump along the trees until nothing changes (1). Labels begin as pixels or as runs found by ballots (RUNS).
#define THREADS (TX * TY / PER)
#define STEP (TY / PER)
__device__ __forceinline__ int find(const volatile int* l, int i) {
  for (int n = l[i]; n != i; n = l[i]) i = n;
  return i;
}
__device__ __forceinline__ void join(int* l, int a, int b) {
  for (;;) {
    a = find(l, a), b = find(l, b);
    if (a == b) return;
    if (a < b) {
      int c = a;
      a = b, b = c;
    }
    int old = atomicMin(l + a, b);
    if (old == a) return;
    a = old;
  }
}
extern "C" __global__ void __launch_bounds__(THREADS) label_tiles(const unsigned char* __restrict__ image, int* __restrict__ labels, int w, int level) {
  __shared__ int l[TX * TY];
  int x = threadIdx.x, y0 = threadIdx.y;
  size_t corner = (size_t)blockIdx.y * TY * w + blockIdx.x * TX;
  unsigned char full[PER];
#pragma unroll
  for (int p = 0; p < PER; ++p) full[p] = image[corner + (size_t)(y0 + p * STEP) * w + x] < level;
#pragma unroll
  for (int p = 0; p < PER; ++p) {
    int i = (y0 + p * STEP) * TX + x;
#if RUNS
    unsigned lane = x % 32, empty = ~__ballot_sync(0xffffffffu, full[p]) & ((1u << lane) - 1u);
    l[i] = full[p] ? i - (int)lane + (empty ? 32 - __clz(empty) : 0) : -1;
#else
    l[i] = full[p] ? i : -1;
#endif
  }
  __syncthreads();
#if ALGORITHM == 0
#pragma unroll
  for (int p = 0; p < PER; ++p) {
    int y = y0 + p * STEP, i = y * TX + x;
    if (full[p]) {
      bool left = x > 0 && ((volatile int*)l)[i - 1] >= 0;
#if RUNS
      if (left && x % 32 == 0) join(l, i, i - 1);
      if (y > 0 && ((volatile int*)l)[i - TX] >= 0 && !(left && x % 32 != 0 && ((volatile int*)l)[i - TX - 1] >= 0)) join(l, i, i - TX);
#else
      if (left) join(l, i, i - 1);
      if (y > 0 && ((volatile int*)l)[i - TX] >= 0) join(l, i, i - TX);
#endif
    }
  }
  __syncthreads();
#else
  int changed;
  do {
    changed = 0;
#pragma unroll
    for (int p = 0; p < PER; ++p) {
      int y = y0 + p * STEP, i = y * TX + x;
      if (full[p]) {
        volatile int* v = l;
        int own = v[i], least = own, o;
        if (x > 0 && (o = v[i - 1]) >= 0) least = min(least, o);
        if (x < TX - 1 && (o = v[i + 1]) >= 0) least = min(least, o);
        if (y > 0 && (o = v[i - TX]) >= 0) least = min(least, o);
        if (y < TY - 1 && (o = v[i + TX]) >= 0) least = min(least, o);
        if (least < own) {
          atomicMin(l + own, least);
          atomicMin(l + i, least);
          changed = 1;
        }
      }
    }
    __syncthreads();
#pragma unroll
    for (int p = 0; p < PER; ++p) {
      int i = (y0 + p * STEP) * TX + x;
      if (full[p]) atomicMin(l + i, find(l, i));
    }
  } while (__syncthreads_or(changed));
#endif
#pragma unroll
  for (int p = 0; p < PER; ++p) {
    int y = y0 + p * STEP, i = y * TX + x, root = full[p] ? find(l, i) : -1;
    labels[corner + (size_t)y * w + x] = root < 0 ? -1 : (int)(corner + (size_t)(root / TX) * w + root % TX);
  }
}
