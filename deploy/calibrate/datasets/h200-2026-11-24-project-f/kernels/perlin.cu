// Octaves of gradient noise over an image, the permutation in constant, global or shared memory (TABLE 0, 1, 2).
__constant__ int perm_c[512];
extern "C" __global__ void perlin(const int* __restrict__ perm_g, float* __restrict__ out, int width, int height, float scale) {
#if TABLE == 2
  __shared__ int perm[512];
  for (int k = threadIdx.y * BX + threadIdx.x; k < 512; k += BX * BY) perm[k] = perm_g[k];
  __syncthreads();
#elif TABLE == 1
#define perm perm_g
#else
#define perm perm_c
#endif
  int px = blockIdx.x * BX + threadIdx.x, py = blockIdx.y * BY + threadIdx.y;
  if (px >= width || py >= height) return;
  float sum = 0, weight = 0.5f, x = px * scale, y = py * scale;
#pragma unroll UNROLL
  for (int o = 0; o < 8; ++o) {
    int ix = (int)floorf(x), iy = (int)floorf(y);
    float fx = x - ix, fy = y - iy, u = fx * fx * (3 - 2 * fx), v = fy * fy * (3 - 2 * fy);
    int a = perm[ix & 255] + (iy & 255), b = perm[(ix + 1) & 255] + (iy & 255);
    a &= 255, b &= 255;
    int h[4] = {perm[a], perm[b], perm[a + 1], perm[b + 1]};
    float g[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      float dx = fx - (k & 1), dy = fy - (k >> 1);
      g[k] = (h[k] & 1 ? -dx : dx) + (h[k] & 2 ? -dy : dy);
    }
    float p = g[0] + u * (g[1] - g[0]), q = g[2] + u * (g[3] - g[2]);
    sum += weight * (p + v * (q - p));
    weight *= 0.5f, x = 2 * x + 17, y = 2 * y + 31;
  }
  out[py * width + px] = sum;
}
