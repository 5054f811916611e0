// An image is scaled: every pixel is a bilinear fetch.
extern "C" __global__ void bilinear(cudaTextureObject_t image, float *out, int width, int height, float step) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) out[y * width + x] = tex2D<float>(image, (x + 0.5f) * step, (y + 0.5f) * step);
}
