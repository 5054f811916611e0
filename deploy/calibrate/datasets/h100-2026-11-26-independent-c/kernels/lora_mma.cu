// A low rank adapter of a linear layer, y = (x A) B with rank 16 in bfloat16 on tensor cores (mma.sync): the CTA's WARPS share the long sum of x A for 16*MT rows, add up their parts in shared memory, and share the columns of the result. Operands by words, or with the sum's (WIDEIN) or the columns' (WIDEOUT) order changed so that a lane has eight neighbours, a vector; AHEAD steps of 32 are loaded together.
#define ROWS (16 * MT)
#define RANK 16
__device__ __forceinline__ void mma(float* c, const unsigned* a, unsigned b0, unsigned b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};" : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
__device__ __forceinline__ unsigned two(float lo, float hi) {
  unsigned a = __float_as_uint(lo), b = __float_as_uint(hi);
  a = (a + 0x7fffu + (a >> 16 & 1u)) >> 16, b = b + 0x7fffu + (b >> 16 & 1u);
  return a | (b & 0xffff0000u);
}
extern "C" __global__ void __launch_bounds__(WARPS * 32) lora_mma(const unsigned short* __restrict__ x, const unsigned short* __restrict__ A, const unsigned short* __restrict__ B, unsigned short* __restrict__ y, int depth, int columns, float scale) {
  __shared__ float part[WARPS][ROWS][RANK + 1];
  __shared__ __align__(16) unsigned mid[ROWS][RANK / 2];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, q = lane % 4, row0 = blockIdx.x * ROWS;
  float acc[MT][2][4];
#pragma unroll
  for (int m = 0; m < MT; ++m)
#pragma unroll
    for (int e = 0; e < 8; ++e) acc[m][e / 4][e % 4] = 0.0f;
#pragma unroll 1
  for (int k0 = warp * 32 * AHEAD; k0 < depth; k0 += WARPS * 32 * AHEAD) {
    unsigned w[AHEAD * 2][2 * MT + 2][2];
#pragma unroll
    for (int s = 0; s < AHEAD; ++s)
#pragma unroll
      for (int r = 0; r < 2 * MT + 2; ++r) {
        const unsigned short* p = (r < 2 * MT ? x + (size_t)(row0 + r * 8 + g) * depth : A + (size_t)((r - 2 * MT) * 8 + g) * depth) + k0 + s * 32;
#if WIDEIN
        uint4 v = *(const uint4*)(p + q * 8);
        w[2 * s][r][0] = v.x, w[2 * s][r][1] = v.y, w[2 * s + 1][r][0] = v.z, w[2 * s + 1][r][1] = v.w;
#else
#pragma unroll
        for (int h = 0; h < 4; ++h) w[2 * s + h / 2][r][h % 2] = *(const unsigned*)(p + h * 8 + q * 2);
#endif
      }
#pragma unroll
    for (int h = 0; h < 2 * AHEAD; ++h)
#pragma unroll
      for (int m = 0; m < MT; ++m) {
        unsigned a[4] = {w[h][2 * m][0], w[h][2 * m + 1][0], w[h][2 * m][1], w[h][2 * m + 1][1]};
        mma(acc[m][0], a, w[h][2 * MT][0], w[h][2 * MT][1]);
        mma(acc[m][1], a, w[h][2 * MT + 1][0], w[h][2 * MT + 1][1]);
      }
  }
#pragma unroll
  for (int m = 0; m < MT; ++m)
#pragma unroll
    for (int e = 0; e < 8; ++e) part[warp][m * 16 + e / 2 % 2 * 8 + g][e / 4 * 8 + q * 2 + e % 2] = acc[m][e / 4][e % 4];
  __syncthreads();
  for (int k = threadIdx.x; k < ROWS * RANK / 2; k += WARPS * 32) {
    int r = k / (RANK / 2), c = k % (RANK / 2);
    float s0 = 0.0f, s1 = 0.0f;
#pragma unroll
    for (int w = 0; w < WARPS; ++w) s0 += part[w][r][2 * c], s1 += part[w][r][2 * c + 1];
    mid[r][c] = two(s0 * scale, s1 * scale);
  }
  __syncthreads();
  unsigned a[MT][4];
#pragma unroll
  for (int m = 0; m < MT; ++m)
#pragma unroll
    for (int e = 0; e < 4; ++e) a[m][e] = mid[m * 16 + e % 2 * 8 + g][e / 2 * 4 + q];
#pragma unroll 1
  for (int n = warp * 32; n < columns; n += WARPS * 32) {
    unsigned b[4][2];
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      int c = n + (WIDEOUT ? g / 2 * 8 + j * 2 + g % 2 : j * 8 + g);
      const unsigned* p = (const unsigned*)(B + (size_t)c * RANK);
      b[j][0] = p[q], b[j][1] = p[q + 4];
    }
#pragma unroll
    for (int m = 0; m < MT; ++m) {
      float d[4][4];
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        d[j][0] = d[j][1] = d[j][2] = d[j][3] = 0.0f;
        mma(d[j], a[m], b[j][0], b[j][1]);
      }
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        unsigned short* to = y + (size_t)(row0 + m * 16 + r * 8 + g) * columns + n;
#if WIDEOUT
        *(uint4*)(to + q * 8) = make_uint4(two(d[0][2 * r], d[0][2 * r + 1]), two(d[1][2 * r], d[1][2 * r + 1]), two(d[2][2 * r], d[2][2 * r + 1]), two(d[3][2 * r], d[3][2 * r + 1]));
#else
#pragma unroll
        for (int j = 0; j < 4; ++j) *(unsigned*)(to + j * 8 + q * 2) = two(d[j][2 * r], d[j][2 * r + 1]);
#endif
      }
    }
  }
}
