// Products of matrices of bytes, four at a time (dp4a): tiles of BX*WX by BY*WY, TK words deep.
extern "C" __global__ void igemm(const int* __restrict__ a, const int* __restrict__ b, int* __restrict__ c, int n, int words) {
  __shared__ int as[BY * WY][TK + PAD], bs[BX * WX][TK + PAD];
  int tx = threadIdx.x, ty = threadIdx.y, t = ty * BX + tx;
  int row = blockIdx.y * BY * WY, col = blockIdx.x * BX * WX;
  int s[WY][WX] = {};
  for (int k0 = 0; k0 < words; k0 += TK) {
    for (int i = t; i < BY * WY * TK; i += BX * BY) as[i / TK][i % TK] = a[(size_t)(row + i / TK) * words + k0 + i % TK];
    for (int i = t; i < BX * WX * TK; i += BX * BY) bs[i / TK][i % TK] = b[(size_t)(col + i / TK) * words + k0 + i % TK];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < TK; ++k) {
      int u[WY], v[WX];
#pragma unroll
      for (int i = 0; i < WY; ++i) u[i] = as[ty + i * BY][k];
#pragma unroll
      for (int j = 0; j < WX; ++j) v[j] = bs[tx + j * BX][k];
#pragma unroll
      for (int i = 0; i < WY; ++i)
#pragma unroll
        for (int j = 0; j < WX; ++j) s[i][j] = __dp4a(u[i], v[j], s[i][j]);
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < WY; ++i)
#pragma unroll
    for (int j = 0; j < WX; ++j) c[(size_t)(row + ty + i * BY) * n + col + tx + j * BX] = s[i][j];
}
