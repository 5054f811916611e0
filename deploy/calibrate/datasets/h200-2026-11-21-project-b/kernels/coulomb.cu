// Potential of 500 point charges on a grid: PLANES planes a thread, charges from constant or global memory.
#define ATOMS 500
__constant__ float4 atoms[ATOMS];
extern "C" __global__ void coulomb(const float4* __restrict__ list, float* __restrict__ out, int nx, int ny, float h) {
  int x = blockIdx.x * BX + threadIdx.x, y = blockIdx.y * BY + threadIdx.y, z = blockIdx.z * PLANES;
  float px = x * h, py = y * h, pz = z * h, e[PLANES];
#pragma unroll
  for (int k = 0; k < PLANES; ++k) e[k] = 0;
#pragma unroll UNROLL
  for (int a = 0; a < ATOMS; ++a) {
#if USE_CONST
    float4 q = atoms[a];
#else
    float4 q = list[a];
#endif
    float dx = px - q.x, dy = py - q.y, dz = pz - q.z, d2 = dx * dx + dy * dy;
#pragma unroll
    for (int k = 0; k < PLANES; ++k) { e[k] += q.w * rsqrtf(d2 + dz * dz); dz += h; }
  }
  if (x < nx && y < ny)
#pragma unroll
    for (int k = 0; k < PLANES; ++k) out[((size_t)(z + k) * ny + y) * nx + x] = e[k];
}
