// Densities of smoothed particles sorted by cells of a grid: TPP threads a particle walk the particles of the 27 cells around it, cell by cell or (MERGE) three cells of a row at once.
extern "C" __global__ void sph_density(const int* __restrict__ start, const float* __restrict__ x, const float* __restrict__ y, const float* __restrict__ z, const float* __restrict__ mass, float* __restrict__ density, int side, int n) {
  int t = blockIdx.x * block_size_x + threadIdx.x, i = t / TPP, lane = t % TPP;
  float s = 0;
  if (i < n) {
    float px = x[i], py = y[i], pz = z[i];
    int cx = (int)px, cy = (int)py, cz = (int)pz;
    int x0 = max(cx - 1, 0), x1 = min(cx + 1, side - 1), y0 = max(cy - 1, 0), y1 = min(cy + 1, side - 1), z0 = max(cz - 1, 0), z1 = min(cz + 1, side - 1);
    for (int kz = z0; kz <= z1; ++kz)
      for (int ky = y0; ky <= y1; ++ky) {
        int row = (kz * side + ky) * side;
#if MERGE
        int from = start[row + x0], to = start[row + x1 + 1];
#else
        for (int kx = x0; kx <= x1; ++kx) {
          int from = start[row + kx], to = start[row + kx + 1];
#endif
#pragma unroll UNROLL
          for (int j = from + lane; j < to; j += TPP) {
            float dx = px - x[j], dy = py - y[j], dz = pz - z[j], w = 1.0f - (dx * dx + dy * dy + dz * dz);
#if BRANCH
            if (w > 0) s += mass[j] * w * w * w;
#else
            w = fmaxf(w, 0.0f);
            s += mass[j] * w * w * w;
#endif
          }
#if !MERGE
        }
#endif
      }
  }
#pragma unroll
  for (int d = TPP / 2; d; d /= 2) s += __shfl_down_sync(0xffffffffu, s, d, TPP);
  if (i < n && lane == 0) density[i] = 1.5666815f * s;
}
