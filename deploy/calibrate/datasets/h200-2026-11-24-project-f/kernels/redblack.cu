// Half a step of over-relaxation, in place, of every second point of a plane.
extern "C" __global__ void redblack(float* u, const float* __restrict__ f, int n, int colour) {
  int k = blockIdx.x * BX + threadIdx.x, y = 1 + (blockIdx.y * BY + threadIdx.y) * ROWS;
#pragma unroll
  for (int r = 0; r < ROWS; ++r, ++y) {
    int x = 1 + 2 * k + ((y + colour) & 1);
    if (x >= n - 1 || y >= n - 1) continue;
    int i = y * n + x;
    float c = CACHED ? __ldg(u + i) : u[i];
    u[i] = c + 1.7f * 0.25f * (u[i - 1] + u[i + 1] + u[i - n] + u[i + n] - 4 * c - f[i]);
  }
}
