// The gates of a GRU's cell after the two matrix products, in half precision with float between: r and z by sigmoids, n by tanh, h' = n + z (h - n). A thread has VEC neighbours in PER rows, BY threads' rows a CTA, its biases loaded once. Sigmoids by division (MATH 0), the fast reciprocal (1) or the hardware's tanh (2); the gates' loads and the result's stores may be marked as streaming (PAST).
#define HIDDEN 1024
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
#if MATH == 2
__device__ __forceinline__ float tangent(float x) {
  float f;
  asm("tanh.approx.f32 %0, %1;" : "=f"(f) : "f"(x));
  return f;
}
__device__ __forceinline__ float sigmoid(float x) { return fmaf(0.5f, tangent(0.5f * x), 0.5f); }
#else
__device__ __forceinline__ float sigmoid(float x) {
  float e;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(e) : "f"(-1.4426950409f * x));
#if MATH == 1
  float f;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(f) : "f"(1.0f + e));
  return f;
#else
  return 1.0f / (1.0f + e);
#endif
}
__device__ __forceinline__ float tangent(float x) { return fmaf(2.0f, sigmoid(2.0f * x), -1.0f); }
#endif
__device__ __forceinline__ word gate(const word* p) {
#if PAST
  return __ldcs(p);
#else
  return *p;
#endif
}
__device__ __forceinline__ float cell(float ir, float iz, float in, float hr, float hz, float hn, float h, float br, float bz, float bi, float bh) {
  float r = sigmoid(ir + hr + br), z = sigmoid(iz + hz + bz), n = tangent(fmaf(r, hn + bh, in + bi));
  return fmaf(z, h - n, n);
}
extern "C" __global__ void __launch_bounds__(BX * BY) gru_gates(const unsigned short* __restrict__ gi, const unsigned short* __restrict__ gh, const unsigned short* __restrict__ h, const float* __restrict__ bias, unsigned short* __restrict__ out) {
  int at = blockIdx.x * BX + threadIdx.x, row0 = blockIdx.y * BY * PER + threadIdx.y;
  float2 b[4][W];
#pragma unroll
  for (int g = 0; g < 4; ++g)
#pragma unroll
    for (int v = 0; v < W; ++v) b[g][v] = __ldg((const float2*)(bias + g * HIDDEN) + at * W + v);
  pack i[PER][3], s[PER][3], o[PER];
#pragma unroll
  for (int p = 0; p < PER; ++p) {
    size_t row = row0 + p * BY;
#pragma unroll
    for (int g = 0; g < 3; ++g) {
      i[p][g].w = gate((const word*)(gi + (row * 3 + g) * HIDDEN) + at);
      s[p][g].w = gate((const word*)(gh + (row * 3 + g) * HIDDEN) + at);
    }
    o[p].w = ((const word*)(h + row * HIDDEN))[at];
  }
#pragma unroll
  for (int p = 0; p < PER; ++p) {
    pack q;
#pragma unroll
    for (int v = 0; v < W; ++v) {
      float2 ir = open2(i[p][0].u[v]), iz = open2(i[p][1].u[v]), in = open2(i[p][2].u[v]);
      float2 hr = open2(s[p][0].u[v]), hz = open2(s[p][1].u[v]), hn = open2(s[p][2].u[v]), old = open2(o[p].u[v]);
      q.u[v] = close2(cell(ir.x, iz.x, in.x, hr.x, hz.x, hn.x, old.x, b[0][v].x, b[1][v].x, b[2][v].x, b[3][v].x), cell(ir.y, iz.y, in.y, hr.y, hz.y, hn.y, old.y, b[0][v].y, b[1][v].y, b[2][v].y, b[3][v].y));
    }
    word* to = (word*)(out + (size_t)(row0 + p * BY) * HIDDEN) + at;
#if PAST
    __stcs(to, q.w);
#else
    *to = q.w;
#endif
  }
}
