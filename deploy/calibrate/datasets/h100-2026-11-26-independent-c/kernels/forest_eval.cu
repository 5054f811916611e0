// Inference of boosted trees of depth 8: ROWS samples a thread descend each tree side by side, SPLIT CTAs share the trees, partial sums stored. The samples' features are read from memory by rows (FEATURES 0) or by columns (1) or lie in shared memory (2); trees are walked in memory (TREES 0) or brought to shared memory, TREES of them at once.
#define DEPTH 8
#define NODES 256
#define WIDE 32
#define MINE (BLOCK * ROWS)
extern "C" __global__ void __launch_bounds__(BLOCK) forest_eval(const float* __restrict__ sample, const int* __restrict__ feature, const float* __restrict__ threshold, const float* __restrict__ leaf, float* __restrict__ out, int n, int trees) {
  extern __shared__ __align__(16) unsigned char raw[];
  int t = threadIdx.x, r0 = blockIdx.x * MINE, first = blockIdx.y * (trees / SPLIT), last = first + trees / SPLIT;
  float sum[ROWS];
#pragma unroll
  for (int r = 0; r < ROWS; ++r) sum[r] = 0.0f;
#if TREES
  int* nf = (int*)raw;
  float* nt = (float*)(nf + TREES * NODES);
  float* nl = nt + TREES * NODES;
#endif
#if FEATURES == 2
  float* mine = (float*)raw + TREES * NODES * 3;
#pragma unroll 4
  for (int k = t; k < MINE * WIDE; k += BLOCK) mine[k / WIDE * (WIDE + 1) + k % WIDE] = sample[(size_t)r0 * WIDE + k];
  __syncthreads();
#define X(r, f) mine[((r) * BLOCK + t) * (WIDE + 1) + (f)]
#elif FEATURES == 1
#define X(r, f) __ldg(sample + (size_t)(f) * n + r0 + (r) * BLOCK + t)
#else
#define X(r, f) __ldg(sample + (size_t)(r0 + (r) * BLOCK + t) * WIDE + (f))
#endif
#if TREES
#pragma unroll 1
  for (int k0 = first; k0 < last; k0 += TREES) {
    __syncthreads();
#pragma unroll 2
    for (int k = t; k < TREES * NODES; k += BLOCK) {
      nf[k] = feature[(size_t)k0 * NODES + k];
      nt[k] = threshold[(size_t)k0 * NODES + k];
      nl[k] = leaf[(size_t)k0 * NODES + k];
    }
    __syncthreads();
#pragma unroll 1
    for (int k = 0; k < TREES; ++k) {
      const int* tf = nf + k * NODES;
      const float* tt = nt + k * NODES;
      const float* tl = nl + k * NODES;
#else
  {
#pragma unroll 1
    for (int k = first; k < last; ++k) {
      const int* tf = feature + (size_t)k * NODES;
      const float* tt = threshold + (size_t)k * NODES;
      const float* tl = leaf + (size_t)k * NODES;
#endif
      int node[ROWS];
#pragma unroll
      for (int r = 0; r < ROWS; ++r) node[r] = 1;
#pragma unroll
      for (int d = 0; d < DEPTH; ++d)
#pragma unroll
        for (int r = 0; r < ROWS; ++r) node[r] = 2 * node[r] + (X(r, tf[node[r]]) > tt[node[r]] ? 1 : 0);
#pragma unroll
      for (int r = 0; r < ROWS; ++r) sum[r] += tl[node[r] - NODES];
    }
  }
#pragma unroll
  for (int r = 0; r < ROWS; ++r) out[(size_t)blockIdx.y * n + r0 + r * BLOCK + t] = sum[r];
}
