// Multigrid in double precision: the residual f - A u of the seven point operator on the fine grid and its average over 2 by 2 by 2 cells, the right hand side of the coarse grid, in one pass. A thread has a column of PLANES coarse cells, keeps the planes of u it walks through in registers, and gets the neighbours at its sides from memory (TILE 0) or from a tile of shared memory.
#define WX (2 * BX + 2)
#define WY (2 * BY + 2)
extern "C" __global__ void __launch_bounds__(BX * BY) restrict_3d(const double* __restrict__ u, const double* __restrict__ f, double* __restrict__ coarse, int nx, int ny, int nz, double h2) {
  int tx = threadIdx.x, ty = threadIdx.y, cx = blockIdx.x * BX + tx, cy = blockIdx.y * BY + ty, z0 = blockIdx.z * PLANES * 2;
  int x = 2 * cx, y = 2 * cy, left = x > 0 ? x - 1 : 0, right = min(x + 2, nx - 1), front = y > 0 ? y - 1 : 0, back = min(y + 2, ny - 1);
  size_t plane = (size_t)nx * ny;
#if TILE
  __shared__ double tile[2][WY][WX];
#endif
  double2 below[2], here[2], above[2];
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    below[r] = *(const double2*)(u + (z0 > 0 ? z0 - 1 : 0) * plane + (size_t)(y + r) * nx + x);
    here[r] = *(const double2*)(u + z0 * plane + (size_t)(y + r) * nx + x);
  }
#pragma unroll 1
  for (int c = 0; c < PLANES; ++c) {
    double sum = 0.0;
#pragma unroll
    for (int p = 0; p < 2; ++p) {
      int z = z0 + 2 * c + p;
      const double* uz = u + z * plane;
      const double* up = u + min(z + 1, nz - 1) * plane;
      const double* fz = f + z * plane;
      double2 g[2];
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        above[r] = *(const double2*)(up + (size_t)(y + r) * nx + x);
        g[r] = *(const double2*)(fz + (size_t)(y + r) * nx + x);
      }
      double l[2], n[2];
      double2 a, b;
#if TILE
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        tile[p][2 * ty + 1 + r][2 * tx + 1] = here[r].x;
        tile[p][2 * ty + 1 + r][2 * tx + 2] = here[r].y;
        if (tx == 0) tile[p][2 * ty + 1 + r][0] = uz[(size_t)(y + r) * nx + left];
        if (tx == BX - 1) tile[p][2 * ty + 1 + r][WX - 1] = uz[(size_t)(y + r) * nx + right];
        if (ty == 0) tile[p][0][2 * tx + 1 + r] = uz[(size_t)front * nx + x + r];
        if (ty == BY - 1) tile[p][WY - 1][2 * tx + 1 + r] = uz[(size_t)back * nx + x + r];
      }
      __syncthreads();
#pragma unroll
      for (int r = 0; r < 2; ++r) l[r] = tile[p][2 * ty + 1 + r][2 * tx], n[r] = tile[p][2 * ty + 1 + r][2 * tx + 3];
      a = make_double2(tile[p][2 * ty][2 * tx + 1], tile[p][2 * ty][2 * tx + 2]);
      b = make_double2(tile[p][2 * ty + 3][2 * tx + 1], tile[p][2 * ty + 3][2 * tx + 2]);
#else
#pragma unroll
      for (int r = 0; r < 2; ++r) l[r] = uz[(size_t)(y + r) * nx + left], n[r] = uz[(size_t)(y + r) * nx + right];
      a = *(const double2*)(uz + (size_t)front * nx + x);
      b = *(const double2*)(uz + (size_t)back * nx + x);
#endif
      double s0 = l[0] + here[0].y + a.x + here[1].x + below[0].x + above[0].x - 6.0 * here[0].x;
      double s1 = here[0].x + n[0] + a.y + here[1].y + below[0].y + above[0].y - 6.0 * here[0].y;
      double s2 = l[1] + here[1].y + here[0].x + b.x + below[1].x + above[1].x - 6.0 * here[1].x;
      double s3 = here[1].x + n[1] + here[0].y + b.y + below[1].y + above[1].y - 6.0 * here[1].y;
      sum += fma(s0, h2, g[0].x) + fma(s1, h2, g[0].y) + fma(s2, h2, g[1].x) + fma(s3, h2, g[1].y);
#pragma unroll
      for (int r = 0; r < 2; ++r) below[r] = here[r], here[r] = above[r];
    }
    coarse[((size_t)(z0 / 2 + c) * (ny / 2) + cy) * (nx / 2) + cx] = 0.125 * sum;
  }
}
