// Non-local means over a search window of 7x7 with patches of 7x7, of an image with a border: a thread PIXELS of a column, whose patches share rows; the image is read
// from a tile with a halo in shared memory (SHARED) or from global memory.
#define S 3
#define P 3
#define HALO (S + P)
extern "C" __global__ void nlm(const float* __restrict__ image, float* __restrict__ out, int w, float strength) {
  int pitch = w + 2 * HALO, left = blockIdx.x * BX, top = blockIdx.y * (BY * PIXELS), x = left + threadIdx.x, y = top + threadIdx.y * PIXELS;
#if SHARED
  __shared__ float tile[BY * PIXELS + 2 * HALO][BX + 2 * HALO];
  const int line = BX + 2 * HALO;
  for (int i = threadIdx.y * BX + threadIdx.x; i < (BY * PIXELS + 2 * HALO) * line; i += BX * BY) tile[i / line][i % line] = image[(size_t)(top + i / line) * pitch + left + i % line];
  __syncthreads();
  const float* at = &tile[threadIdx.y * PIXELS + HALO][threadIdx.x + HALO];
#else
  const int line = pitch;
  const float* at = image + (size_t)(y + HALO) * pitch + x + HALO;
#endif
  float sum[PIXELS], norm[PIXELS];
#pragma unroll
  for (int k = 0; k < PIXELS; ++k) sum[k] = norm[k] = 0;
#pragma unroll 1
  for (int dy = -S; dy <= S; ++dy)
#pragma unroll UNROLL
    for (int dx = -S; dx <= S; ++dx) {
      const float* other = at + dy * line + dx;
      float distance[PIXELS];
#pragma unroll
      for (int k = 0; k < PIXELS; ++k) distance[k] = 0;
#pragma unroll
      for (int r = -P; r < PIXELS + P; ++r) {
        float row = 0;
#pragma unroll
        for (int c = -P; c <= P; ++c) {
          float d = at[r * line + c] - other[r * line + c];
          row += d * d;
        }
#pragma unroll
        for (int k = 0; k < PIXELS; ++k)
          if (r >= k - P && r <= k + P) distance[k] += row;
      }
#pragma unroll
      for (int k = 0; k < PIXELS; ++k) {
        float weight = __expf(-strength * distance[k]);
        sum[k] += weight * other[k * line];
        norm[k] += weight;
      }
    }
#pragma unroll
  for (int k = 0; k < PIXELS; ++k) out[(size_t)(y + k) * w + x] = sum[k] / norm[k];
}
