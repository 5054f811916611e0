// A stencil of 5 by 5 points, each a fetch of its own.
extern "C" __global__ void stencil(cudaTextureObject_t image, float *out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  float sum = 0;
#pragma unroll
  for (int j = -2; j <= 2; j++)
#pragma unroll
    for (int i = -2; i <= 2; i++) sum += tex2D<float>(image, x + i + 0.5f, y + j + 0.5f) * (0.25f + 0.125f * i + 0.0625f * j);
  if (x < width && y < height) out[y * width + x] = sum;
}
