// Columns of an image folded with a filter of 17 in constant memory: BX by BY threads, each STEPS results below one another, with a halo in shared memory.
#define R 8
__constant__ float weight[2 * R + 1] = {0.01f, 0.02f, 0.03f, 0.04f, 0.06f, 0.08f, 0.09f, 0.1f, 0.14f, 0.1f, 0.09f, 0.08f, 0.06f, 0.04f, 0.03f, 0.02f, 0.01f};
extern "C" __global__ void conv_columns(const float* __restrict__ in, float* __restrict__ out, int w, int h) {
  __shared__ float s[BX][STEPS * BY + 2 * R + PAD];
  int x = blockIdx.x * BX + threadIdx.x, y0 = blockIdx.y * STEPS * BY;
  for (int i = threadIdx.y; i < STEPS * BY + 2 * R; i += BY) {
    int y = y0 + i - R;
    s[threadIdx.x][i] = y >= 0 && y < h ? in[(size_t)y * w + x] : 0;
  }
  __syncthreads();
#pragma unroll
  for (int k = 0; k < STEPS; ++k) {
    float sum = 0;
#pragma unroll
    for (int j = 0; j <= 2 * R; ++j) sum += weight[j] * s[threadIdx.x][k * BY + threadIdx.y + j];
    out[(size_t)(y0 + k * BY + threadIdx.y) * w + x] = sum;
  }
}
