// Colours of a Bayer mosaic (red at even places) by Malvar, He and Cutler's filters of 5x5: QUADS squares of two by two pixels a thread, beside each other; neighbours through the cache or from a tile of bytes in shared memory (TILED); in integers or in floats (WHOLE).
#define BX block_size_x
#define BY block_size_y
#define TW (BX * QUADS * 2 + 4)
#define TH (BY * 2 + 4)
#if WHOLE
typedef int num;
#define FINISH(v) ((unsigned)min(max(((v) + 8) >> 4, 0), 255))
#else
typedef float num;
#define FINISH(v) ((unsigned)fminf(fmaxf((v) * 0.0625f + 0.5f, 0.0f), 255.0f))
#endif
__device__ __forceinline__ int mirror(int x, int n) { return x < 0 ? -x : x >= n ? 2 * (n - 1) - x : x; }
extern "C" __global__ void __launch_bounds__(BX* BY) demosaic(const unsigned char* __restrict__ in, unsigned* __restrict__ out, int w, int h) {
  int x0 = blockIdx.x * BX * QUADS * 2, y0 = blockIdx.y * BY * 2, x = x0 + threadIdx.x * QUADS * 2, y = y0 + threadIdx.y * 2;
#if TILED
  __shared__ unsigned char tile[TH][TW];
  for (int k = threadIdx.y * BX + threadIdx.x; k < TH * TW; k += BX * BY) {
    int cx = min(mirror(x0 + k % TW - 2, w), w - 1), cy = min(mirror(y0 + k / TW - 2, h), h - 1);
    tile[k / TW][k % TW] = in[max(cy, 0) * w + max(cx, 0)];
  }
  __syncthreads();
#endif
  if (x >= w || y >= h) return;
  num v[6][QUADS * 2 + 4];
#pragma unroll
  for (int j = 0; j < 6; ++j)
#pragma unroll
    for (int i = 0; i < QUADS * 2 + 4; ++i)
#if TILED
      v[j][i] = tile[threadIdx.y * 2 + j][threadIdx.x * QUADS * 2 + i];
#else
      v[j][i] = in[mirror(y + j - 2, h) * w + max(mirror(x + i - 2, w), 0)];
#endif
#pragma unroll
  for (int q = 0; q < QUADS; ++q) {
    if (x + 2 * q >= w) return;
    unsigned p[2][2];
#pragma unroll
    for (int j = 0; j < 2; ++j)
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        int a = j + 2, b = q * 2 + i + 2;
        num c = v[a][b], cross = v[a - 1][b] + v[a + 1][b] + v[a][b - 1] + v[a][b + 1];
        num far = v[a - 2][b] + v[a + 2][b] + v[a][b - 2] + v[a][b + 2];
        num corner = v[a - 1][b - 1] + v[a - 1][b + 1] + v[a + 1][b - 1] + v[a + 1][b + 1];
        unsigned r, g, l;
        if (i == j) {
          unsigned own = FINISH(c * 16), other = FINISH(c * 12 + corner * 4 - far * 3);
          g = FINISH(c * 8 + cross * 4 - far * 2);
          r = i == 0 ? own : other, l = i == 0 ? other : own;
        } else {
          num rows = v[a - 2][b] + v[a + 2][b], cols = v[a][b - 2] + v[a][b + 2];
          unsigned along = FINISH(c * 10 + (v[a][b - 1] + v[a][b + 1]) * 8 - corner * 2 - cols * 2 + rows);
          unsigned across = FINISH(c * 10 + (v[a - 1][b] + v[a + 1][b]) * 8 - corner * 2 - rows * 2 + cols);
          g = FINISH(c * 16);
          r = j == 0 ? along : across, l = j == 0 ? across : along;
        }
        p[j][i] = r | g << 8 | l << 16 | 0xff000000u;
      }
    *(uint2*)(out + y * w + x + 2 * q) = make_uint2(p[0][0], p[0][1]);
    *(uint2*)(out + (y + 1) * w + x + 2 * q) = make_uint2(p[1][0], p[1][1]);
  }
}
