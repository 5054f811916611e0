// An image enlarged from 2048x2048 by bilinear interpolation: each thread COUNT pixels of a row, next to each other or BX apart (STRIDED).
extern "C" __global__ void resize(const float* __restrict__ in, float* __restrict__ out, int w, int h, int from, float ratio) {
  int y = blockIdx.y * BY + threadIdx.y;
#if STRIDED
  int x0 = blockIdx.x * BX * COUNT + threadIdx.x;
  const int step = BX;
#else
  int x0 = (blockIdx.x * BX + threadIdx.x) * COUNT;
  const int step = 1;
#endif
  if (y >= h) return;
  float v = (y + 0.5f) * ratio - 0.5f;
  int iy = max((int)floorf(v), 0);
  float fy = v - iy;
  const float* a = in + (size_t)iy * from;
  const float* b = in + (size_t)min(iy + 1, from - 1) * from;
#pragma unroll
  for (int k = 0; k < COUNT; ++k) {
    int x = x0 + k * step;
    if (x >= w) return;
    float u = (x + 0.5f) * ratio - 0.5f;
    int ix = max((int)floorf(u), 0), jx = min(ix + 1, from - 1);
    float fx = u - ix;
    float top = a[ix] + fx * (a[jx] - a[ix]), low = b[ix] + fx * (b[jx] - b[ix]);
    out[(size_t)y * w + x] = top + fy * (low - top);
  }
}
