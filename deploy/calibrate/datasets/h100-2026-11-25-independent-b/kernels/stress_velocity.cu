// Velocities of an elastic wave from six stresses on a staggered grid, fourth order, ghosts of two: LZ layers a thread, what a column needs of the layers around kept in registers as it goes up (MARCH) or read each time; all three velocities by one thread, or (APART) each by threads of their own.
#define C0 1.125f
#define C1 (-0.041666667f)
#define FORTH(p, s) (C0 * ((p)[s] - (p)[0]) + C1 * ((p)[2 * (s)] - (p)[-(s)]))
#define BACK(p, s) (C0 * ((p)[0] - (p)[-(s)]) + C1 * ((p)[s] - (p)[-2 * (s)]))
#define MOVE(v, div) (v)[i] += (div) * r
extern "C" __global__ void __launch_bounds__(block_size_x* block_size_y) stress_velocity(const float* __restrict__ sxx, const float* __restrict__ syy, const float* __restrict__ szz, const float* __restrict__ sxy, const float* __restrict__ sxz, const float* __restrict__ syz, const float* __restrict__ buoyancy, float* __restrict__ vx, float* __restrict__ vy, float* __restrict__ vz, int nx, int ny, int nz, float dth) {
  int x = blockIdx.x * block_size_x + threadIdx.x, y = blockIdx.y * block_size_y + threadIdx.y;
  if (x >= nx || y >= ny) return;
#if APART
  int part = blockIdx.z % 3, z0 = blockIdx.z / 3 * LZ;
#else
  int z0 = blockIdx.z * LZ;
#endif
  int pitch = nx + 4, layer = pitch * (ny + 4), i = ((z0 + 2) * (ny + 4) + y + 2) * pitch + x + 2;
#if MARCH
#if APART
  const float* q = part == 0 ? sxz : part == 1 ? syz : szz;
  int up = part == 2 ? layer : 0;
  float a0 = q[i + up - 2 * layer], a1 = q[i + up - layer], a2 = q[i + up];
#else
  float a0 = sxz[i - 2 * layer], a1 = sxz[i - layer], a2 = sxz[i];
  float b0 = syz[i - 2 * layer], b1 = syz[i - layer], b2 = syz[i];
  float c0 = szz[i - layer], c1 = szz[i], c2 = szz[i + layer];
#endif
#endif
#pragma unroll
  for (int k = 0; k < LZ; ++k, i += layer) {
    if (z0 + k >= nz) return;
    float r = buoyancy[i] * dth;
#if APART
#if MARCH
    float a3 = q[i + up + layer], dz = C0 * (a2 - a1) + C1 * (a3 - a0);
    a0 = a1, a1 = a2, a2 = a3;
    if (part == 0) MOVE(vx, FORTH(sxx + i, 1) + BACK(sxy + i, pitch) + dz);
    else if (part == 1) MOVE(vy, BACK(sxy + i, 1) + FORTH(syy + i, pitch) + dz);
    else MOVE(vz, BACK(sxz + i, 1) + BACK(syz + i, pitch) + dz);
#else
    if (part == 0) MOVE(vx, FORTH(sxx + i, 1) + BACK(sxy + i, pitch) + BACK(sxz + i, layer));
    else if (part == 1) MOVE(vy, BACK(sxy + i, 1) + FORTH(syy + i, pitch) + BACK(syz + i, layer));
    else MOVE(vz, BACK(sxz + i, 1) + BACK(syz + i, pitch) + FORTH(szz + i, layer));
#endif
#else
#if MARCH
    float a3 = sxz[i + layer], b3 = syz[i + layer], c3 = szz[i + 2 * layer];
    float xz = C0 * (a2 - a1) + C1 * (a3 - a0), yz = C0 * (b2 - b1) + C1 * (b3 - b0), zz = C0 * (c2 - c1) + C1 * (c3 - c0);
    a0 = a1, a1 = a2, a2 = a3, b0 = b1, b1 = b2, b2 = b3, c0 = c1, c1 = c2, c2 = c3;
#else
    float xz = BACK(sxz + i, layer), yz = BACK(syz + i, layer), zz = FORTH(szz + i, layer);
#endif
    MOVE(vx, FORTH(sxx + i, 1) + BACK(sxy + i, pitch) + xz);
    MOVE(vy, BACK(sxy + i, 1) + FORTH(syy + i, pitch) + yz);
    MOVE(vz, BACK(sxz + i, 1) + BACK(syz + i, pitch) + zz);
#endif
  }
}
