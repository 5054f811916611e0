// Stereo disparity: the shift of sixteen whose 7x7 window differs least, DISP shifts at a time, windows from shared memory or the cache.
#define W 7
#define SHIFTS 16
extern "C" __global__ void sad_disparity(const unsigned char* __restrict__ left, const unsigned char* __restrict__ right, unsigned char* __restrict__ best, unsigned* __restrict__ cost, int width, int height) {
  int stride = width + W - 1 + SHIFTS, x0 = blockIdx.x * BX, y0 = blockIdx.y * BY, x = x0 + threadIdx.x, y = y0 + threadIdx.y;
#if STAGED
  __shared__ unsigned char l[BY + W - 1][BX + W - 1], r[BY + W - 1][BX + W - 1 + SHIFTS];
  for (int j = threadIdx.y; j < BY + W - 1; j += BY) {
    int row = min(y0 + j, height + W - 2) * stride;
    for (int i = threadIdx.x; i < BX + W - 1 + SHIFTS; i += BX) {
      int column = min(x0 + i, stride - 1);
      if (i < BX + W - 1) l[j][i] = left[row + column];
      r[j][i] = right[row + column];
    }
  }
  __syncthreads();
#define L(j, i) l[threadIdx.y + (j)][threadIdx.x + (i)]
#define R(j, i) r[threadIdx.y + (j)][threadIdx.x + (i)]
#else
#define L(j, i) left[(y + (j)) * stride + x + (i)]
#define R(j, i) right[(y + (j)) * stride + x + (i)]
#endif
  if (x >= width || y >= height) return;
  unsigned least = 0xffffffffu, which = 0;
#pragma unroll 1
  for (int d = 0; d < SHIFTS; d += DISP) {
    unsigned sum[DISP];
#pragma unroll
    for (int k = 0; k < DISP; ++k) sum[k] = 0;
#pragma unroll 1
    for (int j = 0; j < W; ++j)
#pragma unroll
      for (int i = 0; i < W; ++i) {
        int a = L(j, i);
#pragma unroll
        for (int k = 0; k < DISP; ++k) sum[k] += abs(a - (int)R(j, i + d + k));
      }
#pragma unroll
    for (int k = 0; k < DISP; ++k)
      if (sum[k] < least) least = sum[k], which = d + k;
  }
  best[y * width + x] = which;
  cost[y * width + x] = least;
}
