// Sum of squared differences of a template at every place of an image of bytes, OX places a thread, the template in shared memory or not.
extern "C" __global__ void template_ssd(const unsigned char* __restrict__ img, const unsigned char* __restrict__ tmpl, int* __restrict__ out, int w, int h) {
  int x = (blockIdx.x * BX + threadIdx.x) * OX, y = blockIdx.y * BY + threadIdx.y;
#if SHARED
  __shared__ unsigned char t[TW * TH];
  for (int i = threadIdx.y * BX + threadIdx.x; i < TW * TH; i += BX * BY) t[i] = tmpl[i];
  __syncthreads();
#else
  const unsigned char* t = tmpl;
#endif
  if (x + OX > w || y >= h) return;
  int sum[OX] = {};
  for (int j = 0; j < TH; ++j) {
    const unsigned char* row = img + (y + j) * (w + TW) + x;
#pragma unroll
    for (int i = 0; i < TW; ++i) {
      int v = t[j * TW + i];
#pragma unroll
      for (int o = 0; o < OX; ++o) { int d = row[i + o] - v; sum[o] += d * d; }
    }
  }
#pragma unroll
  for (int o = 0; o < OX; ++o) out[y * w + x + o] = sum[o];
}
