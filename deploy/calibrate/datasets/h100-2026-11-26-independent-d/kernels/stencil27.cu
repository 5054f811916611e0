// A symmetric 27-point stencil in three dimensions: a thread marches through PLANES planes along z with ROWS rows of its own. Of each plane it makes the sums of centre, edge and corner neighbours once and keeps those of three planes in a register queue. A plane is read through the cache (WAY 0), brought to shared memory by words (1) or vectors of four (2), or by cp.async into two buffers, by words (3) or vectors (4). The input has a halo: pitch nx+8 with four columns in front, a row and a plane around.
#define TX (BX + 8)
#define TY (BY * ROWS + 2)
#define THREADS (BX * BY)
#define PLANE (TX * TY)
#if WAY == 2 || WAY == 4
#define WIDE 4
#define ACROSS (TX / 4)
typedef float4 piece;
#else
#define WIDE 1
#define ACROSS (BX + 2)
typedef float piece;
#endif
#define COUNT (ACROSS * TY)
#define ROUNDS ((COUNT + THREADS - 1) / THREADS)
extern "C" __global__ void __launch_bounds__(THREADS) stencil27(const float* __restrict__ in, float* __restrict__ out, int nx, int ny, float c0, float c1, float c2, float c3) {
#if WAY
  __shared__ __align__(16) float tile[(WAY > 2 ? 2 : 1) * PLANE];
#endif
  int tx = threadIdx.x, ty = threadIdx.y, t = ty * BX + tx, x0 = blockIdx.x * BX, y0 = blockIdx.y * (BY * ROWS), z0 = blockIdx.z * PLANES;
  int pitch = nx + 8;
  size_t deep = (size_t)pitch * (ny + 2);
  const float* corner = in + (size_t)z0 * deep + (size_t)y0 * pitch + x0;
  float* to = out + ((size_t)z0 * ny + y0) * nx + x0 + tx;
  float a[ROWS][3], b[ROWS][3];
#if WAY > 2
  unsigned base = (unsigned)__cvta_generic_to_shared(tile);
#define FETCH(p, z)                                                                                     \
  for (int q = 0; q < ROUNDS; ++q) {                                                                    \
    int k = q * THREADS + t, r = k / ACROSS, c = k % ACROSS * WIDE + (WIDE == 1 ? 3 : 0);               \
    if (k < COUNT) COPY(base + ((p) * PLANE + r * TX + c) * 4, corner + (size_t)(z) * deep + (size_t)r * pitch + c); \
  }                                                                                                     \
  asm volatile("cp.async.commit_group;" ::: "memory")
#if WAY == 3
#define COPY(to, from) asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(from) : "memory")
#else
#define COPY(to, from) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory")
#endif
  FETCH(0, 0);
#endif
#pragma unroll
  for (int r = 0; r < ROWS; ++r)
#pragma unroll
    for (int e = 0; e < 3; ++e) a[r][e] = b[r][e] = 0.0f;
#pragma unroll 2
  for (int z = 0; z < PLANES + 2; ++z) {
#if WAY == 0
#define AT(r, c) __ldg(corner + (size_t)z * deep + (size_t)(ty * ROWS + (r)) * pitch + tx + 3 + (c))
#elif WAY < 3
    __syncthreads();
#pragma unroll
    for (int q = 0; q < ROUNDS; ++q) {
      int k = q * THREADS + t, r = k / ACROSS, c = k % ACROSS * WIDE + (WIDE == 1 ? 3 : 0);
      if (k < COUNT) *(piece*)(tile + r * TX + c) = __ldg((const piece*)(corner + (size_t)z * deep + (size_t)r * pitch + c));
    }
    __syncthreads();
#define AT(r, c) tile[(ty * ROWS + (r)) * TX + tx + 3 + (c)]
#else
    asm volatile("cp.async.wait_group 0;" ::: "memory");
    __syncthreads();
    if (z < PLANES + 1) {
      FETCH((z + 1) & 1, z + 1);
    }
#define AT(r, c) tile[(z & 1) * PLANE + (ty * ROWS + (r)) * TX + tx + 3 + (c)]
#endif
    float mid[ROWS + 2], side[ROWS + 2];
#pragma unroll
    for (int r = 0; r < ROWS + 2; ++r) mid[r] = AT(r, 1), side[r] = AT(r, 0) + AT(r, 2);
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
      float n[3] = {mid[r + 1], mid[r] + mid[r + 2] + side[r + 1], side[r] + side[r + 2]};
      float s = c0 * b[r][0] + c1 * b[r][1] + c2 * b[r][2];
      s += c1 * (a[r][0] + n[0]) + c2 * (a[r][1] + n[1]) + c3 * (a[r][2] + n[2]);
      if (z >= 2) to[((size_t)(z - 2) * ny + ty * ROWS + r) * nx] = s;
#pragma unroll
      for (int e = 0; e < 3; ++e) a[r][e] = b[r][e], b[r][e] = n[e];
    }
  }
}
