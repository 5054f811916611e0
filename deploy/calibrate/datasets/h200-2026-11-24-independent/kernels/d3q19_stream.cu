// A step of a D3Q19 lattice Boltzmann fluid on a periodic box: stream then collide (pull) or collide then stream (push), distributions by direction or by cell.
#if SOA
#define F(q, c) ((q) * cells + (c))
#else
#define F(q, c) ((c) * 19 + (q))
#endif
extern "C" __global__ void d3q19_stream(const float* __restrict__ in, float* __restrict__ out, int nx, int ny, int nz, float omega) {
  const int cx[19] = {0, 1, -1, 0, 0, 0, 0, 1, -1, 1, -1, 1, -1, 1, -1, 0, 0, 0, 0};
  const int cy[19] = {0, 0, 0, 1, -1, 0, 0, 1, -1, -1, 1, 0, 0, 0, 0, 1, -1, 1, -1};
  const int cz[19] = {0, 0, 0, 0, 0, 1, -1, 0, 0, 0, 0, 1, -1, -1, 1, 1, -1, -1, 1};
  int x = blockIdx.x * BX + threadIdx.x, y = blockIdx.y * BY + threadIdx.y, z = blockIdx.z;
  if (x >= nx || y >= ny) return;
  int cells = nx * ny * nz, c = (z * ny + y) * nx + x;
  int xs[3] = {x == 0 ? nx - 1 : x - 1, x, x == nx - 1 ? 0 : x + 1};
  int ys[3] = {(y == 0 ? ny - 1 : y - 1) * nx, y * nx, (y == ny - 1 ? 0 : y + 1) * nx};
  int zs[3] = {(z == 0 ? nz - 1 : z - 1) * nx * ny, z * nx * ny, (z == nz - 1 ? 0 : z + 1) * nx * ny};
  float f[19], rho = 0, ux = 0, uy = 0, uz = 0;
#pragma unroll
  for (int q = 0; q < 19; ++q) {
#if PUSH
    f[q] = in[F(q, c)];
#else
    f[q] = in[F(q, xs[1 - cx[q]] + ys[1 - cy[q]] + zs[1 - cz[q]])];
#endif
    rho += f[q], ux += cx[q] * f[q], uy += cy[q] * f[q], uz += cz[q] * f[q];
  }
  float inv = 1.0f / rho;
  ux *= inv, uy *= inv, uz *= inv;
  float square = 1.0f - 1.5f * (ux * ux + uy * uy + uz * uz);
#pragma unroll
  for (int q = 0; q < 19; ++q) {
    float w = q == 0 ? 1.0f / 3 : q < 7 ? 1.0f / 18 : 1.0f / 36;
    float u = 3.0f * (cx[q] * ux + cy[q] * uy + cz[q] * uz);
    float g = f[q] + omega * (w * rho * (square + u + 0.5f * u * u) - f[q]);
#if PUSH
    out[F(q, xs[1 + cx[q]] + ys[1 + cy[q]] + zs[1 + cz[q]])] = g;
#else
    out[F(q, c)] = g;
#endif
  }
}
