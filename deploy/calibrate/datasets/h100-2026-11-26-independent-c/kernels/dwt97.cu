// One level of the 9/7 wavelet transform of an image, as in JPEG 2000: a CTA brings a tile and four cells around it to shared memory, transforms rows and then columns, and stores four bands. Lifting in place with a barrier a step (LIFT) or direct filters of nine and seven taps by way of a second buffer; even and odd columns of the tile in turn or apart (APART).
#define W (TX + 8)
#define H (TY + 8)
#define AT(y, x) ((y) * W + (APART ? ((x) & 1) * (W / 2) + (x) / 2 : (x)))
#define TO(y, x) (((y) & 1) * (size_t)(h / 2) * w + (size_t)((y) >> 1) * w + ((x) & 1) * (w / 2) + ((x) >> 1))
__device__ __forceinline__ float nine(float a, float b, float c, float d, float e, float f, float g, float h, float i) {
  return 0.602949018f * e + 0.266864118f * (d + f) - 0.078223267f * (c + g) - 0.016864118f * (b + h) + 0.026748757f * (a + i);
}
__device__ __forceinline__ float seven(float a, float b, float c, float d, float e, float f, float g) {
  return 1.115087052f * d - 0.591271763f * (c + e) - 0.057543526f * (b + f) + 0.091271763f * (a + g);
}
extern "C" __global__ void __launch_bounds__(BLOCK) dwt97(const float* __restrict__ image, float* __restrict__ bands, int w, int h) {
  extern __shared__ float tile[];
  int x0 = blockIdx.x * TX - 4, y0 = blockIdx.y * TY - 4;
#pragma unroll UNROLL
  for (int k = threadIdx.x; k < W * H; k += BLOCK) {
    int y = k / W, x = k % W, gy = y0 + y, gx = x0 + x;
    if (gy < 0) gy = -gy;
    if (gy >= h) gy = 2 * h - 2 - gy;
    if (gx < 0) gx = -gx;
    if (gx >= w) gx = 2 * w - 2 - gx;
    tile[AT(y, x)] = image[(size_t)gy * w + gx];
  }
  __syncthreads();
#if LIFT
  const float step[4] = {-1.586134342f, -0.052980118f, 0.882911075f, 0.443506852f};
#pragma unroll
  for (int s = 0; s < 4; ++s) {
#pragma unroll UNROLL
    for (int k = threadIdx.x; k < H * (W / 2); k += BLOCK) {
      int y = k / (W / 2), x = k % (W / 2) * 2 + (s & 1 ? 0 : 1);
      if (x > s && x < W - 1 - s) tile[AT(y, x)] += step[s] * (tile[AT(y, x - 1)] + tile[AT(y, x + 1)]);
    }
    __syncthreads();
  }
#pragma unroll
  for (int s = 0; s < 4; ++s) {
#pragma unroll UNROLL
    for (int k = threadIdx.x; k < TX * (H / 2); k += BLOCK) {
      int x = k % TX + 4, y = k / TX * 2 + (s & 1 ? 0 : 1);
      if (y > s && y < H - 1 - s) tile[AT(y, x)] += step[s] * (tile[AT(y - 1, x)] + tile[AT(y + 1, x)]);
    }
    __syncthreads();
  }
#pragma unroll UNROLL
  for (int k = threadIdx.x; k < TX * TY; k += BLOCK) {
    int y = k / TX, c = k % TX, x = c % (TX / 2) * 2 + c / (TX / 2);
    float scale = (x & 1 ? 1.230174105f : 0.812893066f) * (y & 1 ? 1.230174105f : 0.812893066f);
    bands[TO(y0 + 4 + y, x0 + 4 + x)] = scale * tile[AT(y + 4, x + 4)];
  }
#else
  float* mid = tile + W * H;
#pragma unroll UNROLL
  for (int k = threadIdx.x; k < H * TX / 2; k += BLOCK) {
    int y = k / (TX / 2), j = k % (TX / 2), x = 2 * j + 4;
    float v[9];
#pragma unroll
    for (int d = 0; d < 9; ++d) v[d] = tile[AT(y, x - 4 + d)];
    mid[y * TX + j] = nine(v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8]);
    mid[y * TX + TX / 2 + j] = seven(v[2], v[3], v[4], v[5], v[6], v[7], v[8]);
  }
  __syncthreads();
#pragma unroll UNROLL
  for (int k = threadIdx.x; k < TX * TY / 2; k += BLOCK) {
    int c = k % TX, y = k / TX * 2, x = c % (TX / 2) * 2 + c / (TX / 2);
    float v[9];
#pragma unroll
    for (int d = 0; d < 9; ++d) v[d] = mid[(y + d) * TX + c];
    bands[TO(y0 + 4 + y, x0 + 4 + x)] = nine(v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8]);
    bands[TO(y0 + 5 + y, x0 + 4 + x)] = seven(v[2], v[3], v[4], v[5], v[6], v[7], v[8]);
  }
#endif
}
