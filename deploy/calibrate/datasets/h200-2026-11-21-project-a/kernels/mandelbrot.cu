// Escape times: lanes of a warp leave the loop at different times.
extern "C" __global__ void mandelbrot(int* __restrict__ out, int w, int h) {
  int x = blockIdx.x * BX + threadIdx.x, y0 = (blockIdx.y * BY + threadIdx.y) * ITEMS;
  for (int k = 0; k < ITEMS; ++k) {
    int y = y0 + k;
    float cr = -2.0f + 3.0f * x / w, ci = -1.5f + 3.0f * y / h, zr = 0, zi = 0;
    int n = 0;
    while (n < 128 && zr * zr + zi * zi < 4.0f) {
      float t = zr * zr - zi * zi + cr;
      zi = 2.0f * zr * zi + ci;
      zr = t;
      ++n;
    }
    out[(size_t)y * w + x] = n;
  }
}
