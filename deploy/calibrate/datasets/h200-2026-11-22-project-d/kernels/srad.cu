// A step of speckle reducing anisotropic diffusion (Rodinia): the differences of each pixel to its four neighbours and its coefficient; a thread ROWS pixels of a column,
// from a tile in shared memory (SHARED) or from global memory, the differences in four arrays or four next to each other (PACKED).
extern "C" __global__ void srad(const float* __restrict__ image, float* __restrict__ diff, float* __restrict__ coefficient, int cols, int rows, float q0) {
  int left = blockIdx.x * BX, top = blockIdx.y * (BY * ROWS), x = left + threadIdx.x, y0 = top + threadIdx.y * ROWS;
#if SHARED
  __shared__ float tile[BY * ROWS + 2][BX + 2];
  for (int r = threadIdx.y; r < BY * ROWS + 2; r += BY)
    for (int c = threadIdx.x; c < BX + 2; c += BX) tile[r][c] = image[(size_t)min(max(top + r - 1, 0), rows - 1) * cols + min(max(left + c - 1, 0), cols - 1)];
  __syncthreads();
#define IMAGE(dy, dx) tile[threadIdx.y * ROWS + k + 1 + (dy)][threadIdx.x + 1 + (dx)]
#else
#define IMAGE(dy, dx) image[(size_t)min(max(y + (dy), 0), rows - 1) * cols + min(max(x + (dx), 0), cols - 1)]
#endif
  if (x >= cols) return;
  float here = 0, above = 0;
#pragma unroll
  for (int k = 0; k < ROWS; ++k) {
    int y = y0 + k;
    if (y >= rows) return;
    if (k == 0) here = IMAGE(0, 0), above = IMAGE(-1, 0);
    float below = IMAGE(1, 0);
    float n = above - here, s = below - here, w = IMAGE(0, -1) - here, e = IMAGE(0, 1) - here;
    float g2 = (n * n + s * s + w * w + e * e) / (here * here), l = (n + s + w + e) / here;
    float num = 0.5f * g2 - 0.0625f * (l * l), den = 1 + 0.25f * l, q = num / (den * den);
    den = (q - q0) / (q0 * (1 + q0));
    size_t i = (size_t)y * cols + x;
    coefficient[i] = fminf(fmaxf(1.0f / (1.0f + den), 0.0f), 1.0f);
#if PACKED
    ((float4*)diff)[i] = make_float4(n, s, w, e);
#else
    size_t size = (size_t)rows * cols;
    diff[i] = n, diff[size + i] = s, diff[2 * size + i] = w, diff[3 * size + i] = e;
#endif
    above = here;
    here = below;
  }
}
