// Radon transform: the sum of an image along rays, one thread a ray (angle, offset), nearest pixel or between four.
__device__ __forceinline__ float at(const float* __restrict__ img, int w, int h, int x, int y) {
  return (unsigned)x < (unsigned)w && (unsigned)y < (unsigned)h ? img[y * w + x] : 0.f;
}
extern "C" __global__ void radon(const float* __restrict__ img, const float2* __restrict__ turn, float* __restrict__ out, int w, int h, int rays, int angles) {
#if ANGLES_X
  int a = blockIdx.x * BX + threadIdx.x, r = blockIdx.y * BY + threadIdx.y;
#else
  int r = blockIdx.x * BX + threadIdx.x, a = blockIdx.y * BY + threadIdx.y;
#endif
  if (r >= rays || a >= angles) return;
  float2 cs = turn[a];
  float off = r - rays * 0.5f, x = w * 0.5f + off * cs.x + w * 0.5f * cs.y, y = h * 0.5f + off * cs.y - w * 0.5f * cs.x, sum = 0;
#pragma unroll UNROLL
  for (int t = 0; t < w; ++t) {
    float px = x - t * cs.y, py = y + t * cs.x;
#if LINEAR
    float fx = floorf(px), fy = floorf(py), u = px - fx, v = py - fy;
    int ix = fx, iy = fy;
    sum += (1 - v) * ((1 - u) * at(img, w, h, ix, iy) + u * at(img, w, h, ix + 1, iy)) + v * ((1 - u) * at(img, w, h, ix, iy + 1) + u * at(img, w, h, ix + 1, iy + 1));
#else
    sum += at(img, w, h, (int)px, (int)py);
#endif
  }
  out[a * rays + r] = sum;
}
