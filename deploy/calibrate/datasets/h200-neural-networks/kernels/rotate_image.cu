// An image turned by thirty degrees around its centre: of each place the nearest pixel, or four of them weighted (LINEAR).
extern "C" __global__ void rotate_image(const float* __restrict__ x, float* __restrict__ y, int h, int w, float c, float s) {
  int ox = blockIdx.x * BX + threadIdx.x;
  if (ox >= w) return;
#pragma unroll
  for (int k = 0; k < ROWS; ++k) {
    int oy = blockIdx.y * BY * ROWS + threadIdx.y + k * BY;
    if (oy >= h) return;
    float dx = ox - 0.5f * w, dy = oy - 0.5f * h;
    float fx = c * dx + s * dy + 0.5f * w, fy = c * dy - s * dx + 0.5f * h;
    float v = 0;
#if LINEAR
    float bx = floorf(fx), by = floorf(fy), ax = fx - bx, ay = fy - by;
    int ix = (int)bx, iy = (int)by;
    if (ix >= 0 && iy >= 0 && ix + 1 < w && iy + 1 < h) {
      const float* p = x + (size_t)iy * w + ix;
      float top = p[0] + ax * (p[1] - p[0]), low = p[w] + ax * (p[w + 1] - p[w]);
      v = top + ay * (low - top);
    }
#else
    int ix = __float2int_rd(fx), iy = __float2int_rd(fy);
    if (ix >= 0 && iy >= 0 && ix < w && iy < h) v = x[(size_t)iy * w + ix];
#endif
    y[(size_t)oy * w + ox] = v;
  }
}
