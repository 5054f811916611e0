// Greatest of K by K at every other place of each plane; PER outputs a thread, beside each other.
extern "C" __global__ void max_pool(const float* __restrict__ x, float* __restrict__ y, int h, int w) {
  int ow = w / 2, oh = h / 2, ox = (blockIdx.x * BX + threadIdx.x) * PER, oy = blockIdx.y * BY + threadIdx.y;
  if (oy >= oh) return;
  const float* p = x + (size_t)blockIdx.z * h * w;
  float* q = y + (size_t)blockIdx.z * oh * ow;
#pragma unroll
  for (int k = 0; k < PER; ++k) {
    if (ox + k >= ow) break;
    float m = -1e30f;
#pragma unroll
    for (int dy = 0; dy < K; ++dy)
#pragma unroll
      for (int dx = 0; dx < K; ++dx) {
        int iy = 2 * oy + dy, ix = 2 * (ox + k) + dx;
        if (iy < h && ix < w) m = fmaxf(m, p[iy * w + ix]);
      }
    q[oy * ow + ox + k] = m;
  }
}
