// The input's transform of Winograd's convolution F(4x4, 3x3): squares of 6x6 that overlap by two become 36 numbers of 36 matrices; PER channels a thread, matrices by channel and tile (LAYOUT 0), by tile and channel (1), or all 36 of a tile together (2).
__device__ __forceinline__ void transform(float& a, float& b, float& c, float& d, float& e, float& f) {
  float p = 4.0f * a - 5.0f * c + e, q = d - 4.0f * b, r = e - 4.0f * c, s = 2.0f * (d - b), t = e - c, u = 4.0f * b - 5.0f * d + f;
  a = p, b = r + q, c = r - q, d = t + s, e = t - s, f = u;
}
extern "C" __global__ void winograd_in(const float* __restrict__ in, float* __restrict__ out, int images, int channels, int side) {
  int across = side / 4, tiles = images * across * across, p = blockIdx.x * BLOCK + threadIdx.x;
  if (p >= tiles) return;
  int x = p % across * 4 - 1, y = p / across % across * 4 - 1, image = p / (across * across);
#pragma unroll 1
  for (int k = 0; k < PER; ++k) {
    int c = blockIdx.y * PER + k;
    const float* plane = in + (size_t)(image * channels + c) * side * side;
    float d[6][6];
#pragma unroll
    for (int i = 0; i < 6; ++i)
#pragma unroll
      for (int j = 0; j < 6; ++j) {
#if CLAMP
        float v = plane[min(max(y + i, 0), side - 1) * side + min(max(x + j, 0), side - 1)];
        d[i][j] = y + i >= 0 && y + i < side && x + j >= 0 && x + j < side ? v : 0.0f;
#else
        d[i][j] = y + i >= 0 && y + i < side && x + j >= 0 && x + j < side ? plane[(y + i) * side + x + j] : 0.0f;
#endif
      }
#pragma unroll
    for (int j = 0; j < 6; ++j) transform(d[0][j], d[1][j], d[2][j], d[3][j], d[4][j], d[5][j]);
#pragma unroll
    for (int i = 0; i < 6; ++i) transform(d[i][0], d[i][1], d[i][2], d[i][3], d[i][4], d[i][5]);
#if LAYOUT == 2
    float4* q = (float4*)(out + ((size_t)c * tiles + p) * 36);
#pragma unroll
    for (int m = 0; m < 9; ++m) q[m] = make_float4(d[4 * m / 6][4 * m % 6], d[(4 * m + 1) / 6][(4 * m + 1) % 6], d[(4 * m + 2) / 6][(4 * m + 2) % 6], d[(4 * m + 3) / 6][(4 * m + 3) % 6]);
#else
#pragma unroll
    for (int i = 0; i < 6; ++i)
#pragma unroll
      for (int j = 0; j < 6; ++j)
#if LAYOUT == 1
        out[((size_t)(i * 6 + j) * tiles + p) * channels + c] = d[i][j];
#else
        out[((size_t)(i * 6 + j) * channels + c) * tiles + p] = d[i][j];
#endif
#endif
  }
}
