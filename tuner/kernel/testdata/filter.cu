#include "filter.h"
// The grid's size is named here so that it becomes a macro: grid_size_x.
__constant__ float weights[taps];
extern "C" __global__ void filter_kernel(float *out, const float *in, float scale) {
  int x = (blockIdx.x * block_size_x + threadIdx.x) * tile_x, y = blockIdx.y * block_size_y + threadIdx.y;
  if (x >= WIDTH || y >= HEIGHT) return;
  float sum = 0.f;
#pragma unroll loop_unroll_factor_taps
  for (int k = 0; k < taps; ++k) sum += weights[k] * in[y * (WIDTH + taps - 1) + x + k];
  out[y * WIDTH + x] = sum * scale;
}
