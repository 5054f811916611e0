// Nine distributions a cell, array of structures or structure of arrays.
#if SOA
#define AT(q, c) ((size_t)(q) * cells + (c))
#else
#define AT(q, c) ((size_t)(c) * 9 + (q))
#endif
extern "C" __global__ void lbm_d2q9(const float* __restrict__ f, float* __restrict__ g, int w, int h) {
  const float wt[9] = {4.f/9, 1.f/9, 1.f/9, 1.f/9, 1.f/9, 1.f/36, 1.f/36, 1.f/36, 1.f/36};
  const int dx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, dy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
  int x = blockIdx.x * BX + threadIdx.x, y = blockIdx.y * BY + threadIdx.y, cells = w * h, c = y * w + x;
  float v[9], rho = 0, ux = 0, uy = 0;
#pragma unroll
  for (int q = 0; q < 9; ++q) {
    int sx = (x - dx[q] + w) % w, sy = (y - dy[q] + h) % h;
    v[q] = f[AT(q, sy * w + sx)];
    rho += v[q]; ux += v[q] * dx[q]; uy += v[q] * dy[q];
  }
  ux /= rho; uy /= rho;
  float uu = 1.5f * (ux * ux + uy * uy);
#pragma unroll
  for (int q = 0; q < 9; ++q) {
    float e = 3.0f * (dx[q] * ux + dy[q] * uy);
    g[AT(q, c)] = v[q] + 0.6f * (wt[q] * rho * (1.0f + e + 0.5f * e * e - uu) - v[q]);
  }
}
