// A step of the magnetic field of a two-dimensional FDTD, ROWS rows a thread.
extern "C" __global__ void fdtd_2d(const float* __restrict__ ex, const float* __restrict__ ey, float* __restrict__ hz, int nx, int ny) {
  int j = blockIdx.x * BX + threadIdx.x, i = blockIdx.y * BY * ROWS + threadIdx.y * (NEAR ? ROWS : 1);
  if (j >= nx - 1) return;
#pragma unroll
  for (int r = 0; r < ROWS; ++r, i += NEAR ? 1 : BY)
    if (i < ny - 1) hz[i * nx + j] -= 0.7f * (ex[i * nx + j + 1] - ex[i * nx + j] + ey[(i + 1) * nx + j] - ey[i * nx + j]);
}
