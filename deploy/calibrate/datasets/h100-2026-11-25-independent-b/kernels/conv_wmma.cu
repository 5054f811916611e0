// Convolution of 3x3 over 64 channels of halves to 128, on tensor cores: rows are pixels of images with a border, gathered tap by tap into shared memory by cp.async, STAGES tiles of BK channels under way; warps of WM pixels by WN channels; registers for CTAS of them a multiprocessor.
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;
#define SIDE 56
#define WIDE (SIDE + 2)
#define CIN 64
#define COUT 128
#define ACROSS (BN / WN)
#define THREADS (BM / WM * ACROSS * 32)
#define TILES (9 * CIN / BK)
#define CHUNKS (BM * BK / 8 / THREADS)
__device__ __forceinline__ void copy16(void* to, const void* from) {
  unsigned d = (unsigned)__cvta_generic_to_shared(to);
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(d), "l"(from));
}
extern "C" __global__ void __launch_bounds__(THREADS, CTAS) conv_wmma(const __half* __restrict__ image, const __half* __restrict__ weight, float* __restrict__ out) {
  __shared__ __align__(32) __half as[STAGES][BM][BK + PAD];
  __shared__ __align__(32) __half bs[STAGES][BK][BN + PAD];
  int t = threadIdx.x, warp = t / 32, wy = warp / ACROSS, wx = warp % ACROSS, col0 = blockIdx.y * BN;
  const __half* place[CHUNKS];
#pragma unroll
  for (int c = 0; c < CHUNKS; ++c) {
    int e = t + c * THREADS, pixel = blockIdx.x * BM + e / (BK / 8), x = pixel % SIDE, y = pixel / SIDE % SIDE, n = pixel / (SIDE * SIDE);
    place[c] = image + ((size_t)(n * WIDE + y) * WIDE + x) * CIN + e % (BK / 8) * 8;
  }
  auto fetch = [&](int stage, int tile) {
    int tap = tile / (CIN / BK), k0 = tile % (CIN / BK) * BK, off = (tap / 3 * WIDE + tap % 3) * CIN + k0;
#pragma unroll
    for (int c = 0; c < CHUNKS; ++c) {
      int e = t + c * THREADS;
      copy16(&as[stage][e / (BK / 8)][e % (BK / 8) * 8], place[c] + off);
    }
#pragma unroll
    for (int e = t; e < BK * BN / 8; e += THREADS) copy16(&bs[stage][e / (BN / 8)][e % (BN / 8) * 8], weight + (size_t)(tap * CIN + k0 + e / (BN / 8)) * COUT + col0 + e % (BN / 8) * 8);
  };
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> c[WM / 16][WN / 16];
#pragma unroll
  for (int i = 0; i < WM / 16; ++i)
#pragma unroll
    for (int j = 0; j < WN / 16; ++j) wmma::fill_fragment(c[i][j], 0.0f);
#if STAGES > 1
#pragma unroll
  for (int s = 0; s < STAGES - 1; ++s) {
    fetch(s, s);
    asm volatile("cp.async.commit_group;");
  }
#endif
#pragma unroll 1
  for (int tile = 0; tile < TILES; ++tile) {
    int stage = tile % STAGES;
#if STAGES == 1
    if (tile) __syncthreads();
    fetch(0, tile);
    asm volatile("cp.async.commit_group;");
    asm volatile("cp.async.wait_group 0;" ::: "memory");
    __syncthreads();
#else
    asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
    __syncthreads();
    if (tile + STAGES - 1 < TILES) fetch((tile + STAGES - 1) % STAGES, tile + STAGES - 1);
    asm volatile("cp.async.commit_group;");
#endif
#pragma unroll
    for (int k = 0; k < BK; k += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a[WM / 16];
      wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> b[WN / 16];
#pragma unroll
      for (int i = 0; i < WM / 16; ++i) wmma::load_matrix_sync(a[i], &as[stage][wy * WM + i * 16][k], BK + PAD);
#pragma unroll
      for (int j = 0; j < WN / 16; ++j) wmma::load_matrix_sync(b[j], &bs[stage][k][wx * WN + j * 16], BN + PAD);
#pragma unroll
      for (int i = 0; i < WM / 16; ++i)
#pragma unroll
        for (int j = 0; j < WN / 16; ++j) wmma::mma_sync(c[i][j], a[i], b[j], c[i][j]);
    }
  }
#pragma unroll
  for (int i = 0; i < WM / 16; ++i)
#pragma unroll
    for (int j = 0; j < WN / 16; ++j)
      wmma::store_matrix_sync(out + (size_t)(blockIdx.x * BM + wy * WM + i * 16) * COUT + col0 + wx * WN + j * 16, c[i][j], COUT, wmma::mem_row_major);
}
