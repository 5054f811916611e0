// Distances of all pairs of points, by tiles of both in shared memory; sums of squares, or of amounts (L1).
extern "C" __global__ void pair_distance(const float* __restrict__ p, float* __restrict__ out, int n, int dim) {
  __shared__ float us[DK][BX * TX + 1], vs[DK][BY * TY + 1];
  int tx = threadIdx.x, ty = threadIdx.y, t = ty * BX + tx;
  const float* u = p + (size_t)blockIdx.x * BX * TX * dim;
  const float* v = p + (size_t)blockIdx.y * BY * TY * dim;
  float s[TY][TX] = {};
  for (int k0 = 0; k0 < dim; k0 += DK) {
    for (int e = t; e < BX * TX * DK; e += BX * BY) us[e % DK][e / DK] = u[(size_t)(e / DK) * dim + k0 + e % DK];
    for (int e = t; e < BY * TY * DK; e += BX * BY) vs[e % DK][e / DK] = v[(size_t)(e / DK) * dim + k0 + e % DK];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < DK; ++k)
#pragma unroll
      for (int i = 0; i < TY; ++i)
#pragma unroll
        for (int j = 0; j < TX; ++j) {
          float d = us[k][tx + j * BX] - vs[k][ty + i * BY];
          s[i][j] += L1 ? fabsf(d) : d * d;
        }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < TY; ++i)
#pragma unroll
    for (int j = 0; j < TX; ++j)
      out[(size_t)(blockIdx.y * BY * TY + ty + i * BY) * n + blockIdx.x * BX * TX + tx + j * BX] = L1 ? s[i][j] : sqrtf(s[i][j]);
}
