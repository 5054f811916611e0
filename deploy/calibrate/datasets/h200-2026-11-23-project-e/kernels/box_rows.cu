// Means of 2 RADIUS + 1 neighbours in a row: each thread goes along PER of them with a running sum, out of shared memory.
extern "C" __global__ void box_rows(const float* __restrict__ x, float* __restrict__ y, int h, int w) {
  __shared__ float t[BY][BX * PER + 2 * RADIUS];
  int row = blockIdx.y * BY + threadIdx.y, x0 = blockIdx.x * BX * PER;
  if (row < h)
    for (int i = threadIdx.x; i < BX * PER + 2 * RADIUS; i += BX) {
      int c = min(max(x0 + i - RADIUS, 0), w - 1);
      t[threadIdx.y][i] = x[(size_t)row * w + c];
    }
  __syncthreads();
  if (row >= h) return;
  float s = 0;
  const float* m = t[threadIdx.y] + threadIdx.x * PER;
#pragma unroll
  for (int i = 0; i < 2 * RADIUS; ++i) s += m[i];
#pragma unroll
  for (int i = 0; i < PER; ++i) {
    s += m[i + 2 * RADIUS];
    int c = x0 + threadIdx.x * PER + i;
    if (c < w) y[(size_t)row * w + c] = s * (1.0f / (2 * RADIUS + 1));
    s -= m[i];
  }
}
