// Product of matrices of halves by nvcuda::wmma: tiles in shared memory, RI by CJ fragments a warp.
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;
#define BM (WY * RI * 16)
#define BN (WX * CJ * 16)
extern "C" __global__ void __launch_bounds__(WX * WY * 32) wmma_gemm(const __half* __restrict__ A, const __half* __restrict__ B, float* __restrict__ C, int N, int Kd) {
  __shared__ __align__(32) __half as[BM][BK + PAD];
  __shared__ __align__(32) __half bs[BK][BN + PAD];
  int t = threadIdx.x, warp = t / 32, wy = warp / WX, wx = warp % WX;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> c[RI][CJ];
#pragma unroll
  for (int i = 0; i < RI; ++i)
#pragma unroll
    for (int j = 0; j < CJ; ++j) wmma::fill_fragment(c[i][j], 0.0f);
  for (int k0 = 0; k0 < Kd; k0 += BK) {
    for (int e = t; e < BM * BK / 8; e += WX * WY * 32)
      *(uint4*)&as[e / (BK / 8)][e % (BK / 8) * 8] = *(const uint4*)(A + (size_t)(blockIdx.y * BM + e / (BK / 8)) * Kd + k0 + e % (BK / 8) * 8);
    for (int e = t; e < BK * BN / 8; e += WX * WY * 32)
      *(uint4*)&bs[e / (BN / 8)][e % (BN / 8) * 8] = *(const uint4*)(B + (size_t)(k0 + e / (BN / 8)) * N + blockIdx.x * BN + e % (BN / 8) * 8);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < BK; k += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a[RI];
      wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> b[CJ];
#pragma unroll
      for (int i = 0; i < RI; ++i) wmma::load_matrix_sync(a[i], &as[(wy * RI + i) * 16][k], BK + PAD);
#pragma unroll
      for (int j = 0; j < CJ; ++j) wmma::load_matrix_sync(b[j], &bs[k][(wx * CJ + j) * 16], BN + PAD);
#pragma unroll
      for (int i = 0; i < RI; ++i)
#pragma unroll
        for (int j = 0; j < CJ; ++j) wmma::mma_sync(c[i][j], a[i], b[j], c[i][j]);
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < RI; ++i)
#pragma unroll
    for (int j = 0; j < CJ; ++j)
      wmma::store_matrix_sync(C + (size_t)(blockIdx.y * BM + (wy * RI + i) * 16) * N + blockIdx.x * BN + (wx * CJ + j) * 16, c[i][j], N, wmma::mem_row_major);
}
