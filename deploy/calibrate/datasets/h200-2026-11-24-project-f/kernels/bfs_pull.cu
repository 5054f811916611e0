// A level of breadth-first search by the vertices not visited: each looks at its edges until one comes from the frontier, a bit a vertex or a byte.
extern "C" __global__ void bfs_pull(const int* __restrict__ start, const int* __restrict__ from, const unsigned* __restrict__ frontier, int* __restrict__ parent, int n) {
  int t = blockIdx.x * BLOCK + threadIdx.x, v = t / LANES, lane = t % LANES;
  if (v >= n) return;
  int end = start[v + 1], found = -1;
  for (int e = start[v] + lane; e < end && found < 0; e += LANES) {
    int u = from[e];
#if BITS
    if (frontier[u >> 5] >> (u & 31) & 1) found = u;
#else
    if (((const unsigned char*)frontier)[u] & 1) found = u;
#endif
  }
#pragma unroll
  for (int d = LANES / 2; d; d >>= 1) found = max(found, __shfl_xor_sync(__activemask(), found, d, LANES));
  if (lane == 0 && found >= 0) parent[v] = found;
}
