// The eight nearest of some thousand points to each query, kept sorted in registers; points by tiles in shared memory, as float4 or by coordinate.
#define K 8
extern "C" __global__ void knn_registers(const float4* __restrict__ query, const float4* __restrict__ points, float* __restrict__ distance, int* __restrict__ index, int n, int m) {
#if SPLIT
  __shared__ float sx[TILE], sy[TILE], sz[TILE];
#else
  __shared__ float4 s[TILE];
#endif
  int i = blockIdx.x * BLOCK + threadIdx.x;
  float4 q = query[min(i, n - 1)];
  float best[K];
  int id[K];
#pragma unroll
  for (int k = 0; k < K; ++k) best[k] = 3e38f, id[k] = -1;
  for (int t = 0; t < m; t += TILE) {
    __syncthreads();
    for (int k = threadIdx.x; k < TILE; k += BLOCK) {
      float4 p = points[t + k];
#if SPLIT
      sx[k] = p.x, sy[k] = p.y, sz[k] = p.z;
#else
      s[k] = p;
#endif
    }
    __syncthreads();
#pragma unroll UNROLL
    for (int k = 0; k < TILE; ++k) {
#if SPLIT
      float dx = sx[k] - q.x, dy = sy[k] - q.y, dz = sz[k] - q.z;
#else
      float4 p = s[k];
      float dx = p.x - q.x, dy = p.y - q.y, dz = p.z - q.z;
#endif
      float d = dx * dx + dy * dy + dz * dz;
      if (d < best[K - 1]) {
        best[K - 1] = d, id[K - 1] = t + k;
#pragma unroll
        for (int e = K - 1; e > 0; --e)
          if (best[e] < best[e - 1]) {
            float f = best[e];
            best[e] = best[e - 1], best[e - 1] = f;
            int g = id[e];
            id[e] = id[e - 1], id[e - 1] = g;
          }
      }
    }
  }
  if (i >= n) return;
#pragma unroll
  for (int k = 0; k < K; ++k) distance[k * n + i] = best[k], index[k * n + i] = id[k];
}
