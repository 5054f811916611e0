// Normal random numbers: ten rounds of Philox 4x32 by counter, then Box-Muller; EACH counters a thread, stored as float4 or as four arrays' pieces.
#if FAST
#define LOG __logf
#else
#define LOG logf
#endif
__device__ __forceinline__ float2 box(unsigned a, unsigned b) {
  float u = a * 2.3283064e-10f + 1.1641532e-10f, v = b * 1.46291807e-9f;
  float r = sqrtf(-2.0f * LOG(u)), s, c;
#if FAST
  __sincosf(v, &s, &c);
#else
  sincosf(v, &s, &c);
#endif
  return make_float2(r * s, r * c);
}
extern "C" __global__ void philox_normal(float* __restrict__ out, int n, float mean, float deviation, unsigned seed) {
  int first = blockIdx.x * BLOCK * EACH + threadIdx.x;
#pragma unroll
  for (int k = 0; k < EACH; ++k) {
    int i = first + k * BLOCK;
    if (i >= n) return;
    unsigned c0 = i, c1 = 0, c2 = 7, c3 = 0, k0 = seed, k1 = seed ^ 0x5bd1e995u;
#pragma unroll
    for (int r = 0; r < 10; ++r) {
      unsigned h0 = __umulhi(0xD2511F53u, c0), l0 = 0xD2511F53u * c0, h1 = __umulhi(0xCD9E8D57u, c2), l1 = 0xCD9E8D57u * c2;
      c0 = h1 ^ c1 ^ k0, c1 = l1, c2 = h0 ^ c3 ^ k1, c3 = l0;
      k0 += 0x9E3779B9u, k1 += 0xBB67AE85u;
    }
    float2 p = box(c0, c1), q = box(c2, c3);
    float a = mean + deviation * p.x, b = mean + deviation * p.y, c = mean + deviation * q.x, d = mean + deviation * q.y;
#if VECTOR
    ((float4*)out)[i] = make_float4(a, b, c, d);
#else
    out[i] = a, out[n + i] = b, out[2 * n + i] = c, out[3 * n + i] = d;
#endif
  }
}
