// STEPS steps of the heat equation at once, by a tile in shared memory whose rim shrinks with each.
#define WX (BX * TX)
#define WY (BY * TY)
extern "C" __global__ void heat_steps(const float* __restrict__ u, float* __restrict__ v, int n, float c) {
  __shared__ float t[2][WY][WX];
  int x0 = blockIdx.x * (WX - 2 * STEPS) - STEPS, y0 = blockIdx.y * (WY - 2 * STEPS) - STEPS;
#pragma unroll
  for (int j = 0; j < TY; ++j)
#pragma unroll
    for (int i = 0; i < TX; ++i) {
      int lx = threadIdx.x + i * BX, ly = threadIdx.y + j * BY, gx = x0 + lx, gy = y0 + ly;
      t[0][ly][lx] = gx >= 0 && gy >= 0 && gx < n && gy < n ? u[(size_t)gy * n + gx] : 0.0f;
    }
  __syncthreads();
#pragma unroll
  for (int s = 0; s < STEPS; ++s) {
#pragma unroll
    for (int j = 0; j < TY; ++j)
#pragma unroll
      for (int i = 0; i < TX; ++i) {
        int lx = threadIdx.x + i * BX, ly = threadIdx.y + j * BY;
        if (lx > s && ly > s && lx < WX - 1 - s && ly < WY - 1 - s) {
          float m = t[s & 1][ly][lx];
          t[~s & 1][ly][lx] = m + c * (t[s & 1][ly][lx - 1] + t[s & 1][ly][lx + 1] + t[s & 1][ly - 1][lx] + t[s & 1][ly + 1][lx] - 4.0f * m);
        }
      }
    __syncthreads();
  }
#pragma unroll
  for (int j = 0; j < TY; ++j)
#pragma unroll
    for (int i = 0; i < TX; ++i) {
      int lx = threadIdx.x + i * BX, ly = threadIdx.y + j * BY, gx = x0 + lx, gy = y0 + ly;
      if (lx >= STEPS && ly >= STEPS && lx < WX - STEPS && ly < WY - STEPS && gx < n && gy < n) v[(size_t)gy * n + gx] = t[STEPS & 1][ly][lx];
    }
}
