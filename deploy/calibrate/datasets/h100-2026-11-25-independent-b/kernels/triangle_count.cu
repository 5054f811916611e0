// Triangles at each vertex of a graph whose sorted lists of neighbours have room for 32: LANES threads a vertex, each takes neighbours in turn and counts what the two lists share, by merging them (METHOD 0) or looking up one in the other (1); the vertex's own list in shared memory (STAGE).
#define ROOM 32
#define GROUPS (BLOCK / LANES)
extern "C" __global__ void __launch_bounds__(BLOCK) triangle_count(const int* __restrict__ degree, const int* __restrict__ neighbour, int* __restrict__ count) {
  int group = threadIdx.x / LANES, lane = threadIdx.x % LANES, u = blockIdx.x * GROUPS + group;
  int du = degree[u], found = 0;
#if STAGE
  __shared__ int own[GROUPS][ROOM + 1];
  for (int k = lane; k < du; k += LANES) own[group][k] = neighbour[(size_t)u * ROOM + k];
  __syncwarp();
  const int* a = own[group];
#else
  const int* __restrict__ a = neighbour + (size_t)u * ROOM;
#endif
  for (int e = lane; e < du; e += LANES) {
    int v = a[e], dv = degree[v];
    const int* __restrict__ b = neighbour + (size_t)v * ROOM;
#if METHOD == 0
    int i = 0, j = 0;
    while (i < du && j < dv) {
      int p = a[i], q = b[j];
      found += p == q;
      i += p <= q;
      j += q <= p;
    }
#else
    for (int j = 0; j < dv; ++j) {
      int w = b[j], lo = 0, hi = du;
      while (lo < hi) {
        int mid = (lo + hi) / 2;
        if (a[mid] < w) lo = mid + 1;
        else hi = mid;
      }
      found += lo < du && a[lo] == w;
    }
#endif
  }
#pragma unroll
  for (int d = LANES / 2; d; d /= 2) found += __shfl_down_sync(0xffffffffu, found, d, LANES);
  if (lane == 0) count[u] = found;
}
