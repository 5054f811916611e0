// Heat on a chip: STEPS time steps of a tile in shared memory, whose halo is computed again by its neighbours.
extern "C" __global__ void hotspot_tile(const float* __restrict__ temp, const float* __restrict__ power, float* __restrict__ out, int w, int h) {
  __shared__ float t[2][BY][BX];
  int i = threadIdx.x, j = threadIdx.y;
  int x = blockIdx.x * (BX - 2 * STEPS) + i - STEPS, y = blockIdx.y * (BY - 2 * STEPS) + j - STEPS;
  bool in = x >= 0 && x < w && y >= 0 && y < h;
  float p = 0;
  if (in) { t[0][j][i] = temp[(size_t)y * w + x]; p = power[(size_t)y * w + x]; }
  int n = y > 0 ? j - 1 : j, s = y < h - 1 ? j + 1 : j, l = x > 0 ? i - 1 : i, r = x < w - 1 ? i + 1 : i;
#pragma unroll
  for (int k = 1; k <= STEPS; ++k) {
    __syncthreads();
    if (in && i >= k && i < BX - k && j >= k && j < BY - k) {
      float here = t[(k - 1) & 1][j][i];
      t[k & 1][j][i] = here + 0.05f * (p + (t[(k - 1) & 1][n][i] + t[(k - 1) & 1][s][i] - 2.0f * here) * 0.1f
          + (t[(k - 1) & 1][j][l] + t[(k - 1) & 1][j][r] - 2.0f * here) * 0.1f + (80.0f - here) * 0.3f);
    }
  }
  if (in && i >= STEPS && i < BX - STEPS && j >= STEPS && j < BY - STEPS) out[(size_t)y * w + x] = t[STEPS & 1][j][i];
}
