// A step of PageRank by the edges that come in: of each neighbour rank and share of its edges, in one load (PAIRS) or two.
extern "C" __global__ void rank_pull(const int* __restrict__ start, const int* __restrict__ from, const float2* __restrict__ rank, float* __restrict__ next, int n) {
  int t = blockIdx.x * BLOCK + threadIdx.x, v = t / TPV, lane = t % TPV;
  float s = 0;
  if (v < n) {
    int end = start[v + 1];
    for (int e = start[v] + lane; e < end; e += TPV) {
      int u = from[e];
#if PAIRS
      float2 r = rank[u];
      s += r.x * r.y;
#else
      s += ((const float*)rank)[2 * (size_t)u] * ((const float*)rank)[2 * (size_t)u + 1];
#endif
    }
  }
#pragma unroll
  for (int d = TPV / 2; d; d >>= 1) s += __shfl_xor_sync(~0u, s, d);
  if (v < n && lane == 0) next[v] = 0.15f + 0.85f * s;
}
