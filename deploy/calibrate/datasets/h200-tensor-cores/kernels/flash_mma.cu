// Attention with an online softmax, 64 elements a head: a warp has 16 queries, KEYS keys and values at a time in shared memory.
#include <cuda_fp16.h>
#define D 64
#define LD (D + PAD)
__device__ __forceinline__ unsigned pack(float a, float b) { __half2 h = __floats2half2_rn(a, b); return *(unsigned*)&h; }
extern "C" __global__ void __launch_bounds__(WARPS * 32) flash_mma(const __half* __restrict__ Q, const __half* __restrict__ K, const __half* __restrict__ V, __half* __restrict__ O, int n) {
  __shared__ __align__(16) __half ks[KEYS * LD];
  __shared__ __align__(16) __half vs[KEYS * LD];
  const int t = threadIdx.x, lane = t % 32, warp = t / 32;
  const size_t head = (size_t)blockIdx.y * n * D;
  const int row = (blockIdx.x * WARPS + warp) * 16 + lane / 4;
  unsigned q[4][4];
#pragma unroll
  for (int k = 0; k < 4; ++k)
#pragma unroll
    for (int e = 0; e < 4; ++e) q[k][e] = *(const unsigned*)(Q + head + (size_t)(row + e % 2 * 8) * D + k * 16 + e / 2 * 8 + lane % 4 * 2);
  float o[8][4], m[2] = {-1e30f, -1e30f}, l[2] = {0.0f, 0.0f};
#pragma unroll
  for (int j = 0; j < 8; ++j)
#pragma unroll
    for (int e = 0; e < 4; ++e) o[j][e] = 0.0f;
  unsigned kb = (unsigned)__cvta_generic_to_shared(ks), vb = (unsigned)__cvta_generic_to_shared(vs);
  for (int j0 = 0; j0 < n; j0 += KEYS) {
    __syncthreads();
    for (int e = t; e < KEYS * D / 8; e += WARPS * 32) {
      *(uint4*)(ks + e / (D / 8) * LD + e % (D / 8) * 8) = *(const uint4*)(K + head + (size_t)(j0 + e / (D / 8)) * D + e % (D / 8) * 8);
      *(uint4*)(vs + e / (D / 8) * LD + e % (D / 8) * 8) = *(const uint4*)(V + head + (size_t)(j0 + e / (D / 8)) * D + e % (D / 8) * 8);
    }
    __syncthreads();
    float s[KEYS / 8][4];
#pragma unroll
    for (int j = 0; j < KEYS / 8; ++j) {
#pragma unroll
      for (int e = 0; e < 4; ++e) s[j][e] = 0.0f;
#pragma unroll
      for (int k = 0; k < 4; k += 2) {
        unsigned b[4];
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(b[0]), "=r"(b[1]), "=r"(b[2]), "=r"(b[3]) : "r"(kb + ((j * 8 + lane % 8) * LD + k * 16 + lane / 8 * 8) * 2));
#pragma unroll
        for (int h = 0; h < 2; ++h)
          asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};" : "+f"(s[j][0]), "+f"(s[j][1]), "+f"(s[j][2]), "+f"(s[j][3]) : "r"(q[k + h][0]), "r"(q[k + h][1]), "r"(q[k + h][2]), "r"(q[k + h][3]), "r"(b[2 * h]), "r"(b[2 * h + 1]));
      }
    }
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      float top = m[h];
#pragma unroll
      for (int j = 0; j < KEYS / 8; ++j) top = fmaxf(top, fmaxf(s[j][2 * h], s[j][2 * h + 1]));
      top = fmaxf(top, __shfl_xor_sync(~0u, top, 1));
      top = fmaxf(top, __shfl_xor_sync(~0u, top, 2));
      float scale = exp2f((m[h] - top) * 0.18033688f), sum = 0.0f;
      m[h] = top;
#pragma unroll
      for (int j = 0; j < KEYS / 8; ++j)
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          s[j][2 * h + e] = exp2f((s[j][2 * h + e] - top) * 0.18033688f);
          sum += s[j][2 * h + e];
        }
      l[h] = l[h] * scale + sum;
#pragma unroll
      for (int j = 0; j < 8; ++j) o[j][2 * h] *= scale, o[j][2 * h + 1] *= scale;
    }
#pragma unroll
    for (int k = 0; k < KEYS / 16; ++k) {
      unsigned p[4] = {pack(s[2 * k][0], s[2 * k][1]), pack(s[2 * k][2], s[2 * k][3]), pack(s[2 * k + 1][0], s[2 * k + 1][1]), pack(s[2 * k + 1][2], s[2 * k + 1][3])};
#pragma unroll
      for (int j = 0; j < 8; j += 2) {
        unsigned b[4];
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(b[0]), "=r"(b[1]), "=r"(b[2]), "=r"(b[3]) : "r"(vb + ((k * 16 + lane % 16) * LD + j * 8 + lane / 16 * 8) * 2));
#pragma unroll
        for (int h = 0; h < 2; ++h)
          asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};" : "+f"(o[j + h][0]), "+f"(o[j + h][1]), "+f"(o[j + h][2]), "+f"(o[j + h][3]) : "r"(p[0]), "r"(p[1]), "r"(p[2]), "r"(p[3]), "r"(b[2 * h]), "r"(b[2 * h + 1]));
      }
    }
  }
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    l[h] += __shfl_xor_sync(~0u, l[h], 1);
    l[h] += __shfl_xor_sync(~0u, l[h], 2);
    float inv = 1.0f / l[h];
#pragma unroll
    for (int j = 0; j < 8; ++j) *(unsigned*)(O + head + (size_t)(row + h * 8) * D + j * 8 + lane % 4 * 2) = pack(o[j][2 * h] * inv, o[j][2 * h + 1] * inv);
  }
}
