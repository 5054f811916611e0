// Shortest paths through a panel of vertices (the last step of blocked Floyd-Warshall): C = min(C, A + B).
extern "C" __global__ void minplus(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int n, int panel) {
  __shared__ float as[TK][BY * WY + PAD], bs[TK][BX * WX + PAD];
  int tx = threadIdx.x, ty = threadIdx.y, t = ty * BX + tx;
  int row = blockIdx.y * BY * WY, col = blockIdx.x * BX * WX;
  float best[WY][WX];
#pragma unroll
  for (int i = 0; i < WY; ++i)
#pragma unroll
    for (int j = 0; j < WX; ++j) best[i][j] = c[(size_t)(row + ty + i * BY) * n + col + tx + j * BX];
  for (int k0 = 0; k0 < panel; k0 += TK) {
    for (int i = t; i < TK * BY * WY; i += BX * BY) as[i % TK][i / TK] = a[(size_t)(row + i / TK) * panel + k0 + i % TK];
    for (int i = t; i < TK * BX * WX; i += BX * BY) bs[i / (BX * WX)][i % (BX * WX)] = b[(size_t)(k0 + i / (BX * WX)) * n + col + i % (BX * WX)];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < TK; ++k)
#pragma unroll
      for (int i = 0; i < WY; ++i)
#pragma unroll
        for (int j = 0; j < WX; ++j) best[i][j] = fminf(best[i][j], as[k][ty + i * BY] + bs[k][tx + j * BX]);
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < WY; ++i)
#pragma unroll
    for (int j = 0; j < WX; ++j) c[(size_t)(row + ty + i * BY) * n + col + tx + j * BX] = best[i][j];
}
