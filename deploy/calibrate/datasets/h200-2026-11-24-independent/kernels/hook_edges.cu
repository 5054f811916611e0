// Connected components: each edge finds the roots of its ends, by parents or two at a time, and hooks the higher to the lower; edges as pairs or two arrays.
__device__ __forceinline__ int root(const int* __restrict__ parent, int v) {
  int p = parent[v];
#if JUMP
  while (p != v) {
    int q = parent[p];
    if (q == p) return p;
    v = q, p = parent[q];
  }
#else
  while (p != v) v = p, p = parent[v];
#endif
  return v;
}
extern "C" __global__ void hook_edges(const int* __restrict__ edge, const int* __restrict__ parent, int* __restrict__ hooked, int n) {
  int e0 = blockIdx.x * BLOCK * EACH + threadIdx.x;
#pragma unroll
  for (int k = 0; k < EACH; ++k) {
    int e = e0 + k * BLOCK;
    if (e >= n) return;
#if PAIRS
    int2 uv = ((const int2*)edge)[e];
#else
    int2 uv = make_int2(edge[e], edge[n + e]);
#endif
    int a = root(parent, uv.x), b = root(parent, uv.y);
    if (a != b) atomicMin(hooked + max(a, b), min(a, b));
  }
}
