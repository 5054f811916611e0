// Harris' corner measure: gradients of a tile with halo in shared memory, their products (PRODUCTS) or themselves there again, and sums over 5x5 of the products, PER pixels of a column a thread.
#define TH (block_size_y * PER)
#define THREADS (block_size_x * block_size_y)
extern "C" __global__ void harris(const float* __restrict__ in, float* __restrict__ out, int w, int h, float k) {
  __shared__ float tile[TH + 6][block_size_x + 6 + PAD];
#if PRODUCTS
  __shared__ float xx[TH + 4][block_size_x + 4 + PAD], xy[TH + 4][block_size_x + 4 + PAD], yy[TH + 4][block_size_x + 4 + PAD];
#else
  __shared__ float gx[TH + 4][block_size_x + 4 + PAD], gy[TH + 4][block_size_x + 4 + PAD];
#endif
  int tx = threadIdx.x, ty = threadIdx.y, t = ty * block_size_x + tx, x0 = blockIdx.x * block_size_x, y0 = blockIdx.y * TH;
  for (int e = t; e < (TH + 6) * (block_size_x + 6); e += THREADS) {
    int r = e / (block_size_x + 6), c = e % (block_size_x + 6);
    tile[r][c] = in[min(max(y0 + r - 3, 0), h - 1) * w + min(max(x0 + c - 3, 0), w - 1)];
  }
  __syncthreads();
  for (int e = t; e < (TH + 4) * (block_size_x + 4); e += THREADS) {
    int r = e / (block_size_x + 4), c = e % (block_size_x + 4);
    float a = tile[r][c + 2] - tile[r][c] + 2 * (tile[r + 1][c + 2] - tile[r + 1][c]) + tile[r + 2][c + 2] - tile[r + 2][c];
    float b = tile[r + 2][c] - tile[r][c] + 2 * (tile[r + 2][c + 1] - tile[r][c + 1]) + tile[r + 2][c + 2] - tile[r][c + 2];
#if PRODUCTS
    xx[r][c] = a * a, xy[r][c] = a * b, yy[r][c] = b * b;
#else
    gx[r][c] = a, gy[r][c] = b;
#endif
  }
  __syncthreads();
  float sa[PER + 4], sb[PER + 4], sc[PER + 4];
#pragma unroll
  for (int r = 0; r < PER + 4; ++r) {
    sa[r] = sb[r] = sc[r] = 0;
#pragma unroll
    for (int c = 0; c < 5; ++c) {
#if PRODUCTS
      sa[r] += xx[ty * PER + r][tx + c], sb[r] += xy[ty * PER + r][tx + c], sc[r] += yy[ty * PER + r][tx + c];
#else
      float a = gx[ty * PER + r][tx + c], b = gy[ty * PER + r][tx + c];
      sa[r] += a * a, sb[r] += a * b, sc[r] += b * b;
#endif
    }
  }
#pragma unroll
  for (int p = 0; p < PER; ++p) {
    float a = sa[p] + sa[p + 1] + sa[p + 2] + sa[p + 3] + sa[p + 4], b = sb[p] + sb[p + 1] + sb[p + 2] + sb[p + 3] + sb[p + 4], c = sc[p] + sc[p + 1] + sc[p + 2] + sc[p + 3] + sc[p + 4];
    int x = x0 + tx, y = y0 + ty * PER + p;
    if (x < w && y < h) out[y * w + x] = a * c - b * b - k * (a + c) * (a + c);
  }
}
