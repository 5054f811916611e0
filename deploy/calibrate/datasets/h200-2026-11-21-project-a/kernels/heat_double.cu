// Five-point stencil in double precision, ROWS rows a thread from registers.
extern "C" __global__ void heat_double(const double* __restrict__ u, double* __restrict__ v, int n) {
  int x = blockIdx.x * BX + threadIdx.x, y = (blockIdx.y * BY + threadIdx.y) * ROWS;
  if (x == 0 || x >= n - 1) return;
  size_t i = (size_t)y * n + x;
  double above = y ? u[i - n] : 0.0, here = u[i];
#pragma unroll
  for (int k = 0; k < ROWS; ++k, i += n) {
    double below = y + k + 1 < n ? u[i + n] : 0.0;
    v[i] = here + 0.1 * (above + below + u[i - 1] + u[i + 1] - 4.0 * here);
    above = here; here = below;
  }
}
