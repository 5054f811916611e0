// Seven-point stencil of 320x320x320: four cells in x a thread, which walks LAYERS layers with three in registers.
extern "C" __global__ void jacobi_march(const float* __restrict__ u, float* __restrict__ v, int nx, int ny, int nz) {
  int x = (blockIdx.x * BX + threadIdx.x) * 4, y = blockIdx.y * BY + threadIdx.y, z0 = blockIdx.z * LAYERS;
#if USE_SMEM
  __shared__ float4 t[BY][BX];
#endif
  int north = y > 0 ? -nx : 0, south = y < ny - 1 ? nx : 0, west = x > 0 ? -1 : 0, east = x < nx - 4 ? 4 : 3;
  const float* p = u + ((size_t)z0 * ny + y) * nx + x;
  size_t layer = (size_t)nx * ny;
  float4 here = *(const float4*)p, below = z0 > 0 ? *(const float4*)(p - layer) : here;
#pragma unroll UNROLL
  for (int k = 0; k < LAYERS; ++k) {
    float4 above = z0 + k < nz - 1 ? *(const float4*)(p + layer) : here;
#if USE_SMEM
    __syncthreads();
    t[threadIdx.y][threadIdx.x] = here;
    __syncthreads();
    float4 n = threadIdx.y > 0 ? t[threadIdx.y - 1][threadIdx.x] : *(const float4*)(p + north);
    float4 s = threadIdx.y < BY - 1 ? t[threadIdx.y + 1][threadIdx.x] : *(const float4*)(p + south);
    float w = threadIdx.x > 0 ? t[threadIdx.y][threadIdx.x - 1].w : p[west];
    float e = threadIdx.x < BX - 1 ? t[threadIdx.y][threadIdx.x + 1].x : p[east];
#else
    float4 n = *(const float4*)(p + north), s = *(const float4*)(p + south);
    float w = p[west], e = p[east];
#endif
    float4 o;
    o.x = 0.16f * (n.x + s.x + above.x + below.x + w + here.y) + 0.04f * here.x;
    o.y = 0.16f * (n.y + s.y + above.y + below.y + here.x + here.z) + 0.04f * here.y;
    o.z = 0.16f * (n.z + s.z + above.z + below.z + here.y + here.w) + 0.04f * here.z;
    o.w = 0.16f * (n.w + s.w + above.w + below.w + here.z + e) + 0.04f * here.w;
    *(float4*)(v + (p - u)) = o;
    below = here; here = above; p += layer;
  }
}
