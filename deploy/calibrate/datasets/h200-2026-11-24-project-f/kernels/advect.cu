// Semi-Lagrangian advection: each cell reads the field where its velocity comes from, between four cells.
extern "C" __global__ void advect(const float* __restrict__ field, const float2* __restrict__ velocity, float* __restrict__ out, int nx, int ny, float dt) {
  int x = blockIdx.x * BX + threadIdx.x, y0 = blockIdx.y * BY * ROWS + threadIdx.y;
  if (x >= nx) return;
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    int y = y0 + r * BY;
    if (y >= ny) return;
    float2 v = velocity[y * nx + x];
    float fx = fminf(fmaxf(x - dt * v.x, 0.0f), nx - 1.001f), fy = fminf(fmaxf(y - dt * v.y, 0.0f), ny - 1.001f);
    int i = (int)fx, j = (int)fy;
    float a = fx - i, b = fy - j;
    const float* p = field + j * nx + i;
    out[y * nx + x] = (1 - b) * ((1 - a) * p[0] + a * p[1]) + b * ((1 - a) * p[nx] + a * p[nx + 1]);
  }
}
