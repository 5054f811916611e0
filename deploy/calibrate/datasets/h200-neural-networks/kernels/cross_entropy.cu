// Cross entropy of rows of logits, a CTA a row: the maximum and then the sum, or both in one pass (ONLINE).
#define NW (TPR / 32)
#if VEC == 1
typedef float word;
#elif VEC == 2
typedef float2 word;
#else
typedef float4 word;
#endif
__device__ __forceinline__ void join(float& m, float& s, float m2, float s2) {
  float t = fmaxf(m, m2);
  s = s * __expf(m - t) + s2 * __expf(m2 - t);
  m = t;
}
extern "C" __global__ void cross_entropy(const float* __restrict__ x, const int* __restrict__ label, float* __restrict__ loss, int cols) {
  const float* r = x + (size_t)blockIdx.x * cols;
  int t = threadIdx.x;
  float m = -1e30f, s = 0;
#if ONLINE
#pragma unroll UNROLL
  for (int c = t * VEC; c < cols; c += TPR * VEC) {
    word v = *(const word*)(r + c);
#pragma unroll
    for (int j = 0; j < VEC; ++j) {
      float f = ((const float*)&v)[j];
      if (f > m) { s *= __expf(m - f); m = f; }
      s += __expf(f - m);
    }
  }
#else
#pragma unroll UNROLL
  for (int c = t * VEC; c < cols; c += TPR * VEC) {
    word v = *(const word*)(r + c);
#pragma unroll
    for (int j = 0; j < VEC; ++j) m = fmaxf(m, ((const float*)&v)[j]);
  }
#pragma unroll UNROLL
  for (int c = t * VEC; c < cols; c += TPR * VEC) {
    word v = *(const word*)(r + c);
#pragma unroll
    for (int j = 0; j < VEC; ++j) s += __expf(((const float*)&v)[j] - m);
  }
#endif
#pragma unroll
  for (int d = 16; d; d >>= 1) join(m, s, __shfl_xor_sync(~0u, m, d), __shfl_xor_sync(~0u, s, d));
#if NW > 1
  __shared__ float ms[NW], ss[NW];
  if (t % 32 == 0) ms[t / 32] = m, ss[t / 32] = s;
  __syncthreads();
  if (t == 0)
    for (int w = 1; w < NW; ++w) join(m, s, ms[w], ss[w]);
#endif
  if (t == 0) loss[blockIdx.x] = m + __logf(s) - r[label[blockIdx.x]];
}
