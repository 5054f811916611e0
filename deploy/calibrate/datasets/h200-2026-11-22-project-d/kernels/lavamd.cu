// Forces between the 100 particles of a box and those of the boxes around it (Rodinia's lavaMD): LANES threads hold the box's own, SPLIT rows of them share out the others,
// which are read from global memory (STAGE 0) or brought into shared memory one box or a row of three at a time.
#define PARTICLES 100
#define ITEMS ((PARTICLES + LANES - 1) / LANES)
extern "C" __global__ void lavamd(const float4* __restrict__ position, const float* __restrict__ charge, float4* __restrict__ force, int boxes, float a2) {
#if STAGE
  __shared__ float4 others[STAGE * PARTICLES];
  __shared__ float charges[STAGE * PARTICLES];
#endif
#if SPLIT > 1
  __shared__ float4 part[SPLIT - 1][PARTICLES];
#endif
  int bx = blockIdx.x, by = blockIdx.y, bz = blockIdx.z, home = ((bz * boxes + by) * boxes + bx) * PARTICLES;
  float4 mine[ITEMS], f[ITEMS];
#pragma unroll
  for (int i = 0; i < ITEMS; ++i) {
    mine[i] = position[home + min((int)threadIdx.x + i * LANES, PARTICLES - 1)];
    f[i] = make_float4(0, 0, 0, 0);
  }
  auto meet = [&](float4 p, float q) {
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
      float r2 = mine[i].w + p.w - (mine[i].x * p.x + mine[i].y * p.y + mine[i].z * p.z);
      float v = q * expf(-a2 * r2), t = 2 * v;
      f[i].w += v;
      f[i].x += t * (mine[i].x - p.x);
      f[i].y += t * (mine[i].y - p.y);
      f[i].z += t * (mine[i].z - p.z);
    }
  };
  int x0 = max(bx - 1, 0), x1 = min(bx + 1, boxes - 1);
  for (int z = max(bz - 1, 0); z <= min(bz + 1, boxes - 1); ++z)
    for (int y = max(by - 1, 0); y <= min(by + 1, boxes - 1); ++y) {
      int start = ((z * boxes + y) * boxes + x0) * PARTICLES, count = (x1 - x0 + 1) * PARTICLES;
#if STAGE
      for (int base = start; base < start + count; base += STAGE * PARTICLES) {
        int n = min(start + count - base, STAGE * PARTICLES);
        __syncthreads();
        for (int i = threadIdx.y * LANES + threadIdx.x; i < n; i += LANES * SPLIT) {
          others[i] = position[base + i];
          charges[i] = charge[base + i];
        }
        __syncthreads();
        for (int box = threadIdx.y; box < n; box += PARTICLES)
#pragma unroll UNROLL
          for (int j = 0; j < PARTICLES; j += SPLIT) meet(others[box + j], charges[box + j]);
      }
#else
      for (int box = start + threadIdx.y; box < start + count; box += PARTICLES)
#pragma unroll UNROLL
        for (int j = 0; j < PARTICLES; j += SPLIT) meet(position[box + j], charge[box + j]);
#endif
    }
#if SPLIT > 1
  if (threadIdx.y > 0)
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
      int p = threadIdx.x + i * LANES;
      if (p < PARTICLES) part[threadIdx.y - 1][p] = f[i];
    }
  __syncthreads();
  if (threadIdx.y > 0) return;
#endif
#pragma unroll
  for (int i = 0; i < ITEMS; ++i) {
    int p = threadIdx.x + i * LANES;
    if (p >= PARTICLES) continue;
#if SPLIT > 1
#pragma unroll
    for (int k = 0; k < SPLIT - 1; ++k) {
      float4 g = part[k][p];
      f[i].x += g.x, f[i].y += g.y, f[i].z += g.z, f[i].w += g.w;
    }
#endif
    force[home + p] = f[i];
  }
}
