// Solutions of the queens problem on a board of 14: one placement of the first PREFIX queens a thread, stacks in local or shared memory.
#define N 14
#define DEPTH (N - PREFIX)
extern "C" __global__ void nqueens(unsigned* __restrict__ solutions, int total) {
#if USE_SMEM
  __shared__ unsigned cols[DEPTH][BLOCK], down[DEPTH][BLOCK], up[DEPTH][BLOCK], open[DEPTH][BLOCK];
#define S(a, d) a[d][threadIdx.x]
#else
  unsigned cols[DEPTH], down[DEPTH], up[DEPTH], open[DEPTH];
#define S(a, d) a[d]
#endif
  const unsigned all = (1u << N) - 1;
  int at = blockIdx.x * BLOCK + threadIdx.x;
  unsigned c = 0, l = 0, r = 0, found = 0;
  bool fits = at < total;
#pragma unroll
  for (int k = 0; k < PREFIX; ++k) {
    unsigned q = 1u << (at % N);
    at /= N;
    fits = fits && !(q & (c | l | r));
    c |= q; l = (l | q) << 1; r = (r | q) >> 1;
  }
  if (fits) {
    int d = 0;
    S(cols, 0) = c; S(down, 0) = l; S(up, 0) = r; S(open, 0) = all & ~(c | l | r);
    while (d >= 0) {
      unsigned o = S(open, d);
      if (!o) { --d; continue; }
      unsigned q = o & -o;
      S(open, d) = o ^ q;
      if (d == DEPTH - 1) { ++found; continue; }
      c = S(cols, d) | q; l = (S(down, d) | q) << 1; r = (S(up, d) | q) >> 1;
      ++d;
      S(cols, d) = c; S(down, d) = l; S(up, d) = r; S(open, d) = all & ~(c | l | r);
    }
  }
#if REDUCE
  for (int d = 16; d; d >>= 1) found += __shfl_down_sync(0xffffffffu, found, d);
  if (threadIdx.x % 32 == 0 && found) atomicAdd(solutions, found);
#else
  if (found) atomicAdd(solutions, found);
#endif
}
