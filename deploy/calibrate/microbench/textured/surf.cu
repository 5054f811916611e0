extern "C" __global__ void surf(cudaTextureObject_t rgba, cudaTextureObject_t layers, cudaTextureObject_t cube, cudaTextureObject_t line, cudaSurfaceObject_t out, cudaSurfaceObject_t deep, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  uchar4 v = tex2D<uchar4>(rgba, (x + 17.5f) / w, (y - 40.5f) / h);
  float f = tex2DLayered<float>(layers, x * 0.5f + 0.5f, y * 0.25f + 0.5f, 1) + tex3D<float>(cube, x * 0.03f, y * 0.03f, 2.5f) + tex1Dfetch<short>(line, (x + y) & 1023);
  v.x += x & 15;
  surf2Dwrite(v, out, x * 4, y);
  surf2DLayeredwrite(f, deep, x * 4, y, y & 1);
}
