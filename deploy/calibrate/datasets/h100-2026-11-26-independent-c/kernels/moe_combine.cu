// Mixture of experts, the last step: each token's output is the sum of the rows of TOPK experts' results (bfloat16) weighted by its gates; the rows lie where the dispatch put them and are found by an index. A thread has VEC numbers at once in COLS places of a row, AHEAD rows' loads together; BY tokens a CTA; stores may pass the caches by (PAST).
#define HIDDEN 2048
#define TOPK 8
#if VEC == 8
typedef uint4 word;
#elif VEC == 4
typedef uint2 word;
#else
typedef unsigned word;
#endif
union pack {
  word w;
  unsigned u[VEC / 2];
};
__device__ __forceinline__ unsigned to_bf16(float f) {
  unsigned u = __float_as_uint(f);
  return (u + 0x7fffu + (u >> 16 & 1u)) >> 16;
}
extern "C" __global__ void __launch_bounds__(BX * BY) moe_combine(const unsigned short* __restrict__ rows, const int* __restrict__ place, const float* __restrict__ gate, unsigned short* __restrict__ out) {
  int t = blockIdx.y * BY + threadIdx.y;
  const int* p = place + t * TOPK;
  const float* g = gate + t * TOPK;
#pragma unroll
  for (int c = 0; c < COLS; ++c) {
    int at = (blockIdx.x * COLS + c) * BX + threadIdx.x;
    float acc[VEC];
#pragma unroll
    for (int v = 0; v < VEC; ++v) acc[v] = 0.0f;
#pragma unroll 1
    for (int k0 = 0; k0 < TOPK; k0 += AHEAD) {
      pack q[AHEAD];
      float w[AHEAD];
#pragma unroll
      for (int a = 0; a < AHEAD; ++a) {
        q[a].w = ((const word*)(rows + (size_t)__ldg(p + k0 + a) * HIDDEN))[at];
        w[a] = __ldg(g + k0 + a);
      }
#pragma unroll
      for (int a = 0; a < AHEAD; ++a)
#pragma unroll
        for (int v = 0; v < VEC / 2; ++v) {
          acc[2 * v] = fmaf(w[a], __uint_as_float(q[a].u[v] << 16), acc[2 * v]);
          acc[2 * v + 1] = fmaf(w[a], __uint_as_float(q[a].u[v] & 0xffff0000u), acc[2 * v + 1]);
        }
    }
    pack r;
#pragma unroll
    for (int v = 0; v < VEC / 2; ++v) r.u[v] = to_bf16(acc[2 * v]) | to_bf16(acc[2 * v + 1]) << 16;
    word* to = (word*)(out + (size_t)t * HIDDEN) + at;
#if PAST
    __stcs(to, r.w);
#else
    *to = r.w;
#endif
  }
}
