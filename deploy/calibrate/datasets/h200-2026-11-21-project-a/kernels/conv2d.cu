// 5x5 convolution from a shared tile with halo; each thread makes ITEMS outputs below each other.
#define RAD 2
#define TH (BY * ITEMS)
extern "C" __global__ void conv2d(const float* __restrict__ in, const float* __restrict__ f, float* __restrict__ out, int w, int h) {
  __shared__ float t[TH + 2 * RAD][BX + 2 * RAD + PAD];
  int x0 = blockIdx.x * BX - RAD, y0 = blockIdx.y * TH - RAD;
  for (int j = threadIdx.y; j < TH + 2 * RAD; j += BY)
    for (int i = threadIdx.x; i < BX + 2 * RAD; i += BX) {
      int x = min(max(x0 + i, 0), w - 1), y = min(max(y0 + j, 0), h - 1);
      t[j][i] = in[(size_t)y * w + x];
    }
  __syncthreads();
#pragma unroll
  for (int k = 0; k < ITEMS; ++k) {
    float s = 0;
    int ty = threadIdx.y + k * BY;
#pragma unroll
    for (int j = 0; j < 5; ++j)
#pragma unroll
      for (int i = 0; i < 5; ++i) s += f[j * 5 + i] * t[ty + j][threadIdx.x + i];
    out[(size_t)(blockIdx.y * TH + ty) * w + blockIdx.x * BX + threadIdx.x] = s;
  }
}
