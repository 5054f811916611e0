// 7-point stencil: a thread marches BZ planes in z and keeps three values of its column in registers.
extern "C" __global__ void stencil_3d(const float* __restrict__ u, float* __restrict__ v, int n) {
  int x = blockIdx.x * BX + threadIdx.x, y = blockIdx.y * BY + threadIdx.y, z0 = blockIdx.z * BZ;
  if (x == 0 || y == 0 || x >= n - 1 || y >= n - 1) return;
  size_t p = (size_t)n * n, i = (size_t)z0 * p + (size_t)y * n + x;
  float below = z0 ? u[i - p] : 0.0f, here = u[i];
#pragma unroll UNROLL
  for (int k = 0; k < BZ; ++k, i += p) {
    float above = z0 + k + 1 < n ? u[i + p] : 0.0f;
    v[i] = 0.4f * here + 0.1f * (u[i - 1] + u[i + 1] + u[i - n] + u[i + n] + below + above);
    below = here; here = above;
  }
}
