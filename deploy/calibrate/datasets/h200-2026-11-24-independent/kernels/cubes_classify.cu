// Marching cubes' classification of a volume of bytes: eight corners against a level, vertices of the case by a table (global, constant or shared), MARCH layers a thread with the layer between kept, and how many are occupied.
__constant__ unsigned char table_c[256];
extern "C" __global__ void cubes_classify(const unsigned char* __restrict__ volume, const unsigned char* __restrict__ table_g, unsigned* __restrict__ vertices, unsigned* __restrict__ occupied, int nx, int ny, int nz, int level) {
  int x = blockIdx.x * BX + threadIdx.x, y = blockIdx.y * BY + threadIdx.y, z0 = blockIdx.z * MARCH;
#if TABLE == 2
  __shared__ unsigned char table_s[256];
  for (int k = threadIdx.y * BX + threadIdx.x; k < 256; k += BX * BY) table_s[k] = table_g[k];
  __syncthreads();
#define VERTICES table_s
#elif TABLE == 1
#define VERTICES table_c
#else
#define VERTICES table_g
#endif
  bool inside = x < nx - 1 && y < ny - 1;
  const unsigned char* p = volume + (z0 * ny + y) * nx + x;
  unsigned below = 0, found = 0;
  if (inside) below = (p[0] < level) | (p[1] < level) << 1 | (p[nx + 1] < level) << 2 | (p[nx] < level) << 3;
#pragma unroll
  for (int k = 0; k < MARCH; ++k) {
    if (!inside || z0 + k >= nz - 1) break;
    p += nx * ny;
    unsigned above = (p[0] < level) | (p[1] < level) << 1 | (p[nx + 1] < level) << 2 | (p[nx] < level) << 3;
    unsigned v = VERTICES[below | above << 4];
    vertices[((z0 + k) * ny + y) * nx + x] = v;
    found += v > 7;
    below = above;
  }
#pragma unroll
  for (int d = 16; d; d >>= 1) found += __shfl_down_sync(0xffffffffu, found, d);
  if (((threadIdx.y * BX + threadIdx.x) & 31) == 0 && found) atomicAdd(occupied, found);
}
