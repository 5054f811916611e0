// Product of matrices of bfloats by nvcuda::wmma without shared memory, the second one by columns.
#include <cuda_bf16.h>
#include <mma.h>
using namespace nvcuda;
extern "C" __global__ void __launch_bounds__(WX * WY * 32) wmma_direct(const __nv_bfloat16* __restrict__ A, const __nv_bfloat16* __restrict__ B, float* __restrict__ C, int N, int Kd) {
  int warp = threadIdx.x / 32, row = (blockIdx.y * WY + warp / WX) * RI * 16, col = (blockIdx.x * WX + warp % WX) * CJ * 16;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> c[RI][CJ];
#pragma unroll
  for (int i = 0; i < RI; ++i)
#pragma unroll
    for (int j = 0; j < CJ; ++j) wmma::fill_fragment(c[i][j], 0.0f);
#pragma unroll UNROLL
  for (int k = 0; k < Kd; k += 16) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> a[RI];
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::col_major> b[CJ];
#pragma unroll
    for (int i = 0; i < RI; ++i) wmma::load_matrix_sync(a[i], A + (size_t)(row + i * 16) * Kd + k, Kd);
#pragma unroll
    for (int j = 0; j < CJ; ++j) wmma::load_matrix_sync(b[j], B + (size_t)(col + j * 16) * Kd + k, Kd);
#pragma unroll
    for (int i = 0; i < RI; ++i)
#pragma unroll
      for (int j = 0; j < CJ; ++j) wmma::mma_sync(c[i][j], a[i], b[j], c[i][j]);
  }
#pragma unroll
  for (int i = 0; i < RI; ++i)
#pragma unroll
    for (int j = 0; j < CJ; ++j) wmma::store_matrix_sync(C + (size_t)(row + i * 16) * N + col + j * 16, c[i][j], N, wmma::mem_row_major);
}
