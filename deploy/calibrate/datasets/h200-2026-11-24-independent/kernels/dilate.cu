// Dilation of a byte image by a 7x7 square: maxima of the rows into shared memory, then of the columns; four pixels a word, by SIMD in a word or one by one.
#define R 3
__device__ __forceinline__ unsigned most(unsigned a, unsigned b) {
#if SIMD
  unsigned less = (a | 0x80808080u) - (b & 0x7f7f7f7fu);
  unsigned over = ((a & ~b) | (~(a ^ b) & less)) & 0x80808080u;
  unsigned mask = over | (over - (over >> 7));
  return (a & mask) | (b & ~mask);
#else
  unsigned m = 0;
#pragma unroll
  for (int s = 0; s < 32; s += 8) m |= max(a >> s & 255, b >> s & 255) << s;
  return m;
#endif
}
extern "C" __global__ void dilate(const unsigned* __restrict__ in, unsigned* __restrict__ out, int words, int height) {
  __shared__ unsigned rows[BY * ROWS + 2 * R][BX];
  int x = blockIdx.x * BX + threadIdx.x, y0 = blockIdx.y * BY * ROWS, stride = words + 2;
  if (x < words)
    for (int j = threadIdx.y; j < BY * ROWS + 2 * R; j += BY) {
      const unsigned* p = in + min(y0 + j, height + 2 * R - 1) * stride + x;
      unsigned a = p[0], b = p[1], c = p[2], m = b;
#pragma unroll
      for (int s = 8; s <= 8 * R; s += 8) m = most(m, most(__funnelshift_r(b, c, s), __funnelshift_l(a, b, s)));
      rows[j][threadIdx.x] = m;
    }
  __syncthreads();
  if (x >= words) return;
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    int j = threadIdx.y * ROWS + r, y = y0 + j;
    if (y >= height) return;
    unsigned m = rows[j][threadIdx.x];
#pragma unroll
    for (int k = 1; k <= 2 * R; ++k) m = most(m, rows[j + k][threadIdx.x]);
    out[y * words + x] = m;
  }
}
