// Edge-keeping blur of radius 3: weights by distance and by difference.
#define R 3
extern "C" __global__ void bilateral(const float* __restrict__ in, float* __restrict__ out, int w, int h) {
  int x0 = blockIdx.x * (BX * PER), y0 = blockIdx.y * BY, y = y0 + threadIdx.y;
#if USE_SMEM
  __shared__ float t[BY + 2 * R][BX * PER + 2 * R];
  for (int j = threadIdx.y; j < BY + 2 * R; j += BY)
    for (int i = threadIdx.x; i < BX * PER + 2 * R; i += BX)
      t[j][i] = in[min(max(y0 + j - R, 0), h - 1) * w + min(max(x0 + i - R, 0), w - 1)];
  __syncthreads();
#define AT(dx, dy) t[threadIdx.y + R + (dy)][x - x0 + R + (dx)]
#else
#define AT(dx, dy) in[min(max(y + (dy), 0), h - 1) * w + min(max(x + (dx), 0), w - 1)]
#endif
#pragma unroll
  for (int k = 0; k < PER; ++k) {
    int x = x0 + threadIdx.x + k * BX;
    float here = AT(0, 0), sum = 0, weight = 0;
#pragma unroll UNROLL
    for (int dy = -R; dy <= R; ++dy)
#pragma unroll
      for (int dx = -R; dx <= R; ++dx) {
        float v = AT(dx, dy), d = v - here;
#if FAST
        float f = __expf(-0.1f * (dx * dx + dy * dy) - 30.0f * d * d);
#else
        float f = expf(-0.1f * (dx * dx + dy * dy) - 30.0f * d * d);
#endif
        sum += f * v; weight += f;
      }
    if (x < w && y < h) out[(size_t)y * w + x] = sum / weight;
  }
}
