// Number theoretic transforms of 4096 points modulo the Goldilocks prime 2^64 - 2^32 + 1, a CTA each, as provers of computations need: passes in place with RADIX points in registers and a barrier between passes, result in reversed order. The array in shared memory may be padded (PAD); roots come from global memory or a copy in shared memory (ROOTS); the first pass may take its points from memory itself (DIRECT); at least CTAS on a multiprocessor.
#define LEN 4096
#define AT(i) ((i) + PAD * ((i) / 16))
typedef unsigned long long u64;
#define PRIME 0xffffffff00000001ull
__device__ __forceinline__ u64 add(u64 a, u64 b) {
  u64 s = a + b;
  if (s < a) s += 0xffffffffull;
  return s;
}
__device__ __forceinline__ u64 sub(u64 a, u64 b) {
  u64 d = a - b;
  if (a < b) d -= 0xffffffffull;
  return d;
}
__device__ __forceinline__ u64 mul(u64 a, u64 b) {
  u64 lo = a * b, hi = __umul64hi(a, b), top = hi >> 32, t = lo - top;
  if (lo < top) t -= 0xffffffffull;
  u64 m = (hi & 0xffffffffull) * 0xffffffffull, r = t + m;
  if (r < m) r += 0xffffffffull;
  return r;
}
extern "C" __global__ void __launch_bounds__(BLOCK, CTAS) ntt_gold(const u64* __restrict__ in, const u64* __restrict__ root, u64* __restrict__ out) {
  extern __shared__ __align__(16) u64 data[];
  int t = threadIdx.x;
  const u64* from = in + (size_t)blockIdx.x * LEN;
#if ROOTS
  u64* w = data + AT(LEN);
  for (int k = t; k < LEN / 2; k += BLOCK) w[k] = root[k];
#define W(k) w[k]
#else
#define W(k) __ldg(root + (k))
#endif
#if !DIRECT
#pragma unroll 8
  for (int k = t; k < LEN; k += BLOCK) data[AT(k)] = from[k];
#endif
#if ROOTS || !DIRECT
  __syncthreads();
#endif
#pragma unroll
  for (int m = LEN; m > 1; m /= RADIX) {
    int stride = m / RADIX;
#pragma unroll 1
    for (int b = t; b < LEN / RADIX; b += BLOCK) {
      int i = b % stride, base = b / stride * m + i;
      u64 r[RADIX];
#pragma unroll
      for (int j = 0; j < RADIX; ++j) r[j] = DIRECT && m == LEN ? from[base + j * stride] : data[AT(base + j * stride)];
#pragma unroll
      for (int h = RADIX / 2; h > 0; h /= 2)
#pragma unroll
        for (int j = 0; j < RADIX; ++j)
          if (!(j & h)) {
            u64 x = r[j], y = r[j + h];
            r[j] = add(x, y);
            r[j + h] = sub(x, y);
            if (h * stride > 1) r[j + h] = mul(r[j + h], W(((j & (h - 1)) * stride + i) * (LEN / 2 / (h * stride))));
          }
#pragma unroll
      for (int j = 0; j < RADIX; ++j) data[AT(base + j * stride)] = r[j];
    }
    __syncthreads();
  }
#pragma unroll 4
  for (int k = t; k < LEN; k += BLOCK) {
    u64 v = data[AT(k)];
    out[(size_t)blockIdx.x * LEN + k] = v >= PRIME ? v - PRIME : v;
  }
}
