// The gradient of a softmax over rows of 2048 halves: dx = y * (dy - sum(y * dy)), sums in float. LX threads have a row, BY rows a CTA; a thread takes VEC halves at once. For the second pass the row is read again (KEEP 0), stays in registers as it came (1) or lies in shared memory (2); loads and stores may be marked as streaming (PAST).
#define COLS 2048
#define STEPS (COLS / (LX * VEC))
#define W (VEC / 2)
#if VEC == 8
typedef uint4 word;
#elif VEC == 4
typedef uint2 word;
#else
typedef unsigned word;
#endif
union pack {
  word w;
  unsigned u[W];
};
__device__ __forceinline__ float2 open2(unsigned u) {
  float2 f;
  asm("{\n .reg .b16 l, h;\n mov.b32 {l, h}, %2;\n cvt.f32.f16 %0, l;\n cvt.f32.f16 %1, h;\n}" : "=f"(f.x), "=f"(f.y) : "r"(u));
  return f;
}
__device__ __forceinline__ unsigned close2(float lo, float hi) {
  unsigned u;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(u) : "f"(hi), "f"(lo));
  return u;
}
__device__ __forceinline__ word first_read(const word* p) {
#if PAST && KEEP
  return __ldcs(p);
#else
  return *p;
#endif
}
__device__ __forceinline__ word second_read(const word* p) {
#if PAST
  return __ldcs(p);
#else
  return *p;
#endif
}
extern "C" __global__ void __launch_bounds__(LX * BY) softmax_bwd(const unsigned short* __restrict__ y, const unsigned short* __restrict__ dy, unsigned short* __restrict__ dx) {
  int x = threadIdx.x, r = threadIdx.y;
  size_t row = (size_t)blockIdx.x * BY + r;
  const word* py = (const word*)(y + row * COLS);
  const word* pd = (const word*)(dy + row * COLS);
  word* to = (word*)(dx + row * COLS);
#if KEEP == 1
  pack ky[STEPS], kd[STEPS];
#elif KEEP == 2
  extern __shared__ __align__(16) unsigned char raw[];
  word* sy = (word*)raw + r * (2 * COLS / VEC);
  word* sd = sy + COLS / VEC;
#endif
  float sum = 0.0f;
#if KEEP == 1
#pragma unroll
  for (int s = 0; s < STEPS; ++s) {
    ky[s].w = first_read(py + s * LX + x);
    kd[s].w = first_read(pd + s * LX + x);
  }
#pragma unroll
  for (int s = 0; s < STEPS; ++s) {
    pack a = ky[s], b = kd[s];
#else
#pragma unroll 4
  for (int s = 0; s < STEPS; ++s) {
    pack a, b;
    a.w = first_read(py + s * LX + x);
    b.w = first_read(pd + s * LX + x);
#if KEEP == 2
    sy[s * LX + x] = a.w;
    sd[s * LX + x] = b.w;
#endif
#endif
#pragma unroll
    for (int v = 0; v < W; ++v) {
      float2 f = open2(a.u[v]), g = open2(b.u[v]);
      sum = fmaf(f.x, g.x, sum);
      sum = fmaf(f.y, g.y, sum);
    }
  }
#pragma unroll
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
#if LX > 32
  __shared__ float part[BY][LX / 32];
  if (x % 32 == 0) part[r][x / 32] = sum;
  __syncthreads();
  sum = 0.0f;
#pragma unroll
  for (int k = 0; k < LX / 32; ++k) sum += part[r][k];
#endif
#if KEEP == 1
#pragma unroll
#else
#pragma unroll 4
#endif
  for (int s = 0; s < STEPS; ++s) {
    pack a, b, c;
#if KEEP == 1
    a = ky[s], b = kd[s];
#elif KEEP == 2
    a.w = sy[s * LX + x], b.w = sd[s * LX + x];
#else
    a.w = second_read(py + s * LX + x), b.w = second_read(pd + s * LX + x);
#endif
#pragma unroll
    for (int v = 0; v < W; ++v) {
      float2 f = open2(a.u[v]), g = open2(b.u[v]);
      c.u[v] = close2(f.x * (g.x - sum), f.y * (g.y - sum));
    }
#if PAST
    __stcs(to + s * LX + x, c.w);
#else
    to[s * LX + x] = c.w;
#endif
  }
}
