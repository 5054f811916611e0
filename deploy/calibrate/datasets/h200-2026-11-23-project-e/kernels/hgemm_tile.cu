// Product of matrices of halves by pairs of columns, tiles in shared memory; TM rows and TN pairs a thread.
#include <cuda_fp16.h>
#define NX (BN / (2 * TN))
#define NY (BM / TM)
extern "C" __global__ void hgemm_tile(const __half* __restrict__ A, const __half* __restrict__ B, __half* __restrict__ C, int N, int Kd) {
  __shared__ __half as[BM][BK];
  __shared__ __half2 bs[BK][BN / 2];
  int tx = threadIdx.x, ty = threadIdx.y, t = ty * NX + tx;
  __half2 c[TM][TN];
#pragma unroll
  for (int i = 0; i < TM; ++i)
#pragma unroll
    for (int j = 0; j < TN; ++j) c[i][j] = __float2half2_rn(0.0f);
  for (int k0 = 0; k0 < Kd; k0 += BK) {
    for (int e = t; e < BM * BK / 2; e += NX * NY)
      ((__half2*)as)[e] = *(const __half2*)(A + (size_t)(blockIdx.y * BM + e / (BK / 2)) * Kd + k0 + e % (BK / 2) * 2);
    for (int e = t; e < BK * BN / 2; e += NX * NY)
      bs[e / (BN / 2)][e % (BN / 2)] = *(const __half2*)(B + (size_t)(k0 + e / (BN / 2)) * N + blockIdx.x * BN + e % (BN / 2) * 2);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < BK; ++k) {
      __half2 b[TN];
#pragma unroll
      for (int j = 0; j < TN; ++j) b[j] = bs[k][tx + j * NX];
#pragma unroll
      for (int i = 0; i < TM; ++i) {
        __half2 a = __half2half2(as[ty * TM + i][k]);
#pragma unroll
        for (int j = 0; j < TN; ++j) c[i][j] = __hfma2(a, b[j], c[i][j]);
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < TM; ++i)
#pragma unroll
    for (int j = 0; j < TN; ++j) *(__half2*)(C + (size_t)(blockIdx.y * BM + ty * TM + i) * N + blockIdx.x * BN + 2 * (tx + j * NX)) = c[i][j];
}
