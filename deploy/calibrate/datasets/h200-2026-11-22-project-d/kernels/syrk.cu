// The lower triangle of C = A A^T: tiles of TILE by TILE, TK deep, W by W values a thread, in groups of VEC neighbours that are read from shared memory at once.
#define T (TILE / W)
struct alignas(4 * VEC) word { float v[VEC]; };
extern "C" __global__ void syrk(const float* __restrict__ a, float* __restrict__ c, int n, int depth) {
  __shared__ word as[TK][(TILE + PAD) / VEC], bs[TK][(TILE + PAD) / VEC];
  if (blockIdx.x > blockIdx.y) return;
  int tx = threadIdx.x, ty = threadIdx.y, t = ty * T + tx, row = blockIdx.y * TILE, col = blockIdx.x * TILE;
  float s[W][W];
#pragma unroll
  for (int i = 0; i < W; ++i)
#pragma unroll
    for (int j = 0; j < W; ++j) s[i][j] = 0;
  for (int k0 = 0; k0 < depth; k0 += TK) {
    for (int i = t; i < TK * TILE; i += T * T) {
      int k = i % TK, r = i / TK;
      as[k][r / VEC].v[r % VEC] = a[(size_t)(row + r) * depth + k0 + k];
      bs[k][r / VEC].v[r % VEC] = a[(size_t)(col + r) * depth + k0 + k];
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < TK; ++k) {
      word u[W / VEC], v[W / VEC];
#pragma unroll
      for (int i = 0; i < W / VEC; ++i) {
        u[i] = as[k][i * T + ty];
        v[i] = bs[k][i * T + tx];
      }
#pragma unroll
      for (int i = 0; i < W; ++i)
#pragma unroll
        for (int j = 0; j < W; ++j) s[i][j] += u[i / VEC].v[i % VEC] * v[j / VEC].v[j % VEC];
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < W; ++i) {
    int y = row + (i / VEC * T + ty) * VEC + i % VEC;
#pragma unroll
    for (int j = 0; j < W; ++j) {
      int x = col + (j / VEC * T + tx) * VEC + j % VEC;
      if (x <= y) c[(size_t)y * n + x] = s[i][j];
    }
  }
}
