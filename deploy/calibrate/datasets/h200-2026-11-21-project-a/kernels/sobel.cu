// Edges of a byte image: tile with halo in shared memory, ITEMS rows a thread.
extern "C" __global__ void sobel(const unsigned char* __restrict__ in, unsigned char* __restrict__ out, int w, int h) {
  __shared__ unsigned char t[BY * ITEMS + 2][BX + 2 + PAD];
  int x0 = blockIdx.x * BX - 1, y0 = blockIdx.y * (BY * ITEMS) - 1;
  for (int j = threadIdx.y; j < BY * ITEMS + 2; j += BY)
    for (int i = threadIdx.x; i < BX + 2; i += BX) {
      int x = min(max(x0 + i, 0), w - 1), y = min(max(y0 + j, 0), h - 1);
      t[j][i] = in[(size_t)y * w + x];
    }
  __syncthreads();
#pragma unroll
  for (int k = 0; k < ITEMS; ++k) {
    int j = threadIdx.y + k * BY, i = threadIdx.x;
    int gx = t[j][i + 2] + 2 * t[j + 1][i + 2] + t[j + 2][i + 2] - t[j][i] - 2 * t[j + 1][i] - t[j + 2][i];
    int gy = t[j + 2][i] + 2 * t[j + 2][i + 1] + t[j + 2][i + 2] - t[j][i] - 2 * t[j][i + 1] - t[j][i + 2];
    out[(size_t)(blockIdx.y * (BY * ITEMS) + j) * w + blockIdx.x * BX + i] = min(255, (int)sqrtf((float)(gx * gx + gy * gy)));
  }
}
