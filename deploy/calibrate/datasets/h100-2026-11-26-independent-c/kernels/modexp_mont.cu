// Powers modulo the prime of the curve BN254, 256 bits wide: Montgomery's product word by word (CIOS) with words of 32 or 64 bits (LIMB), exponents from left to right WINDOW bits at a time with the table of small powers in local or shared memory (SHTAB), there interleaved by thread. One number a thread.
#define N (256 / LIMB)
#define ENTRIES (1 << WINDOW)
#if LIMB == 64
typedef unsigned long long word;
#define INV 0x87d20782e4866389ull
#define PRIME {0x3c208c16d87cfd47ull, 0x97816a916871ca8dull, 0xb85045b68181585dull, 0x30644e72e131a029ull}
__device__ __forceinline__ word mad(word a, word b, word t, word& carry) {
  word lo = a * b, hi = __umul64hi(a, b);
  lo += t, hi += lo < t;
  lo += carry, hi += lo < carry;
  carry = hi;
  return lo;
}
#else
typedef unsigned word;
#define INV 0xe4866389u
#define PRIME {0xd87cfd47u, 0x3c208c16u, 0x6871ca8du, 0x97816a91u, 0x8181585du, 0xb85045b6u, 0xe131a029u, 0x30644e72u}
__device__ __forceinline__ word mad(word a, word b, word t, word& carry) {
  unsigned long long s = (unsigned long long)a * b + t + carry;
  carry = (word)(s >> 32);
  return (word)s;
}
#endif
struct number { word w[N]; };
__device__ __forceinline__ void product(number& r, const number& a, const number& b) {
  const word prime[N] = PRIME;
  word t[N + 1];
#pragma unroll
  for (int i = 0; i <= N; ++i) t[i] = 0;
#pragma unroll
  for (int i = 0; i < N; ++i) {
    word carry = 0, top, m;
#pragma unroll
    for (int j = 0; j < N; ++j) t[j] = mad(a.w[j], b.w[i], t[j], carry);
    top = t[N] + carry;
    m = t[0] * (word)INV;
    carry = 0;
    mad(m, prime[0], t[0], carry);
#pragma unroll
    for (int j = 1; j < N; ++j) t[j - 1] = mad(m, prime[j], t[j], carry);
    t[N - 1] = top + carry;
    t[N] = t[N - 1] < carry;
  }
  number d;
  word borrow = 0;
#pragma unroll
  for (int j = 0; j < N; ++j) {
    word x = t[j] - prime[j], y = x - borrow;
    borrow = (word)(t[j] < prime[j]) | (word)(x < borrow);
    d.w[j] = y;
  }
  bool less = borrow && !t[N];
#pragma unroll
  for (int j = 0; j < N; ++j) r.w[j] = less ? t[j] : d.w[j];
}
#if SHTAB
#define ENTRY(e, j) table[((e) * N + (j)) * BLOCK + threadIdx.x]
#else
#define ENTRY(e, j) table[e].w[j]
#endif
extern "C" __global__ void __launch_bounds__(BLOCK) modexp_mont(const unsigned* __restrict__ base, const unsigned* __restrict__ exponent, unsigned* __restrict__ out, int digits, int n) {
  int i = blockIdx.x * BLOCK + threadIdx.x;
#if SHTAB
  extern __shared__ __align__(8) unsigned raw[];
  word* table = (word*)raw;
#elif WINDOW > 1
  number table[ENTRIES];
#endif
  number x, r;
#pragma unroll
  for (int j = 0; j < N; ++j) x.w[j] = ((const word*)base)[(size_t)j * n + i];
  r = x;
#if WINDOW > 1
#pragma unroll 1
  for (int e = 0; e < ENTRIES; ++e) {
#pragma unroll
    for (int j = 0; j < N; ++j) ENTRY(e, j) = r.w[j];
    product(r, r, x);
  }
#endif
#pragma unroll 1
  for (int d = 0; d < digits; ++d) {
    unsigned at = d * WINDOW, bits = exponent[i / 32 * 8 + at / 32] >> (at % 32) & (ENTRIES - 1);
#pragma unroll 1
    for (int s = 0; s < WINDOW; ++s) product(r, r, r);
#if WINDOW > 1
    number f;
#pragma unroll
    for (int j = 0; j < N; ++j) f.w[j] = ENTRY(bits, j);
    product(r, r, f);
#else
    if (bits) product(r, r, x);
#endif
  }
#pragma unroll
  for (int j = 0; j < N; ++j) ((word*)out)[(size_t)j * n + i] = r.w[j];
}
