// A step of the wave equation to eighth order: blocks march along z, with the plane they are at in shared memory (SHARED) or read from global memory, and what lies before and behind in registers.
#define R 4
extern "C" __global__ void wave3d(const float* __restrict__ now, float* __restrict__ next, int nx, int ny, int nz) {
#if SHARED
  __shared__ float s[BY + 2 * R][BX + 2 * R + PAD];
#endif
  const float c[R + 1] = {-2.847222f, 1.6f, -0.2f, 0.025397f, -0.001786f};
  int x = blockIdx.x * BX + threadIdx.x + R, y = blockIdx.y * BY + threadIdx.y + R;
  int pitch = nx + 2 * R, plane = pitch * (ny + 2 * R);
  int per = nz / gridDim.z, z0 = blockIdx.z * per;
  const float* p = now + (size_t)z0 * plane + y * pitch + x;
  float q[2 * R + 1];
#pragma unroll
  for (int k = 0; k < 2 * R; ++k) q[k + 1] = p[k * plane];
  p += R * plane;
  for (int z = 0; z < per; ++z) {
#pragma unroll
    for (int k = 0; k < 2 * R; ++k) q[k] = q[k + 1];
    q[2 * R] = p[R * plane];
    float v = 3 * c[0] * q[R];
#if SHARED
    int tx = threadIdx.x + R, ty = threadIdx.y + R;
    __syncthreads();
    s[ty][tx] = q[R];
    if (threadIdx.x < R) s[ty][tx - R] = p[-R], s[ty][tx + BX] = p[BX];
    if (threadIdx.y < R) s[ty - R][tx] = p[-R * pitch], s[ty + BY][tx] = p[BY * pitch];
    __syncthreads();
#pragma unroll
    for (int k = 1; k <= R; ++k) v += c[k] * (q[R - k] + q[R + k] + s[ty][tx - k] + s[ty][tx + k] + s[ty - k][tx] + s[ty + k][tx]);
#else
#pragma unroll
    for (int k = 1; k <= R; ++k) v += c[k] * (q[R - k] + q[R + k] + p[-k] + p[k] + p[-k * pitch] + p[k * pitch]);
#endif
    size_t at = (size_t)(p - now);
    next[at] = 2 * q[R] - next[at] + 0.1f * v;
    p += plane;
  }
}
