// Lennard-Jones forces of each atom's listed neighbours; the list by atoms or by neighbours (LAYOUT).
extern "C" __global__ void md_forces(const float4* __restrict__ position, const int* __restrict__ neighbour, float4* __restrict__ force, int n, float cut, float a, float b) {
  int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i >= n) return;
  float4 p = position[i], f = make_float4(0, 0, 0, 0);
#pragma unroll UNROLL
  for (int k = 0; k < 64; ++k) {
#if LAYOUT
    int j = neighbour[k * n + i];
#else
    int j = neighbour[i * 64 + k];
#endif
    float4 q = position[j];
    float dx = p.x - q.x, dy = p.y - q.y, dz = p.z - q.z, r2 = dx * dx + dy * dy + dz * dz;
    if (r2 < cut) {
      float inv = 1.0f / (r2 + 1e-3f), inv6 = inv * inv * inv, s = inv * inv6 * (a * inv6 - b);
      f.x += dx * s;
      f.y += dy * s;
      f.z += dz * s;
    }
  }
  force[i] = f;
}
