// A layer of 64 by 64 weights with a bias and a ramp over rows of halves, the weights in registers (HELD) or read from shared memory each time.
#include <cuda_fp16.h>
extern "C" __global__ void __launch_bounds__(WARPS * 32) mlp_rows(const __half* __restrict__ X, const __half* __restrict__ W, const float* __restrict__ bias, __half* __restrict__ Y, int rows) {
  __shared__ __align__(16) __half ws[64 * 72];
  const int t = threadIdx.x, lane = t % 32, warp = t / 32;
  for (int e = t; e < 512; e += WARPS * 32) *(uint4*)(ws + e / 8 * 72 + e % 8 * 8) = *(const uint4*)(W + e * 8);
  __syncthreads();
  unsigned at = (unsigned)__cvta_generic_to_shared(ws) + (lane % 16 * 72 + lane / 16 * 8) * 2;
  unsigned w[4][8][2];
  float add[8][2];
#pragma unroll
  for (int j = 0; j < 8; ++j) add[j][0] = bias[j * 8 + lane % 4 * 2], add[j][1] = bias[j * 8 + lane % 4 * 2 + 1];
#define WEIGHTS(k, j) asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(w[k][j][0]), "=r"(w[k][j][1]), "=r"(w[k][j + 1][0]), "=r"(w[k][j + 1][1]) : "r"(at + ((k) * 16 * 72 + (j) * 8) * 2))
#if HELD
#pragma unroll
  for (int k = 0; k < 4; ++k)
#pragma unroll
    for (int j = 0; j < 8; j += 2) WEIGHTS(k, j);
#endif
  for (int r = (blockIdx.x * WARPS + warp) * 16 * EACH; r < rows; r += gridDim.x * WARPS * 16 * EACH)
#pragma unroll
    for (int p = 0; p < EACH; ++p) {
      const __half* x = X + (size_t)(r + p * 16 + lane / 4) * 64 + lane % 4 * 2;
      float c[8][4];
#pragma unroll
      for (int j = 0; j < 8; ++j) c[j][0] = c[j][2] = add[j][0], c[j][1] = c[j][3] = add[j][1];
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        unsigned a[4];
#pragma unroll
        for (int e = 0; e < 4; ++e) a[e] = *(const unsigned*)(x + e % 2 * 8 * 64 + k * 16 + e / 2 * 8);
#pragma unroll
        for (int j = 0; j < 8; ++j) {
#if !HELD
          if (j % 2 == 0) WEIGHTS(k, j);
#endif
          asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};" : "+f"(c[j][0]), "+f"(c[j][1]), "+f"(c[j][2]), "+f"(c[j][3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(w[k][j][0]), "r"(w[k][j][1]));
        }
      }
#pragma unroll
      for (int j = 0; j < 8; ++j)
#pragma unroll
        for (int h = 0; h < 2; ++h)
          *(__half2*)(Y + (size_t)(r + p * 16 + h * 8 + lane / 4) * 64 + j * 8 + lane % 4 * 2) = __floats2half2_rn(fmaxf(c[j][2 * h], 0.0f), fmaxf(c[j][2 * h + 1], 0.0f));
    }
}
