// Cheapest paths down ROWS rows: a block's row in shared memory, its halo computed again by its neighbours.
#define ROWS 20
extern "C" __global__ void
#if WARPS_SM
__launch_bounds__(BLOCK, WARPS_SM * 32 / BLOCK)
#endif
pathfinder(const int* __restrict__ wall, const int* __restrict__ from, int* __restrict__ to, int cols) {
  __shared__ int row[1 + TWO][BLOCK];
  int i = threadIdx.x, x = blockIdx.x * (BLOCK - 2 * ROWS) + i - ROWS;
  bool in = x >= 0 && x < cols;
  int l = x > 0 ? i - 1 : i, r = x < cols - 1 ? i + 1 : i, at = 0;
  if (in) row[0][i] = at = from[x];
#if PREFETCH
  int next = in ? wall[x] : 0;
#endif
  for (int k = 0; k < ROWS; ++k) {
    bool live = in && i > k && i < BLOCK - 1 - k;
#if PREFETCH
    int w = next;
    if (in && k + 1 < ROWS) next = wall[(size_t)(k + 1) * cols + x];
#else
    int w = live ? wall[(size_t)k * cols + x] : 0;
#endif
    __syncthreads();
    if (live) at = w + min(min(row[TWO * (k & 1)][l], at), row[TWO * (k & 1)][r]);
#if !TWO
    __syncthreads();
#endif
    if (live) row[TWO * (~k & 1)][i] = at;
  }
  if (in && i >= ROWS && i < BLOCK - ROWS) to[x] = at;
}
