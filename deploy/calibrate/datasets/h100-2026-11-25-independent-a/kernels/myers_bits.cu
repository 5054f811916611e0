// Edit distances of patterns of 64 bases to texts of 96, two bits a base, by Myers' bit vectors: a pair a thread; where each of the four bases stands in a pattern is in registers (TABLE 0), or in shared memory by base (1) or by thread (2).
typedef unsigned long long word;
extern "C" __global__ void myers_bits(const unsigned* __restrict__ pattern, const unsigned* __restrict__ text, int* __restrict__ distance, int n) {
#if TABLE == 1
  __shared__ word where[4][BLOCK];
#define EQ(b) where[b][threadIdx.x]
#elif TABLE == 2
  __shared__ word where[BLOCK][4 + PAD];
#define EQ(b) where[threadIdx.x][b]
#else
#define EQ(b) ((b) & 2 ? ((b) & 1 ? e3 : e2) : ((b) & 1 ? e1 : e0))
#endif
  int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i >= n) return;
  word e0 = 0, e1 = 0, e2 = 0, e3 = 0;
#pragma unroll
  for (int k = 0; k < 4; ++k) {
#if SIDE
    unsigned p = pattern[k * n + i];
#else
    unsigned p = pattern[i * 4 + k];
#endif
#pragma unroll UNROLL
    for (int b = 0; b < 16; ++b) {
      unsigned c = p >> (2 * b) & 3;
      word bit = 1ull << (16 * k + b);
      e0 |= c == 0 ? bit : 0, e1 |= c == 1 ? bit : 0, e2 |= c == 2 ? bit : 0, e3 |= c == 3 ? bit : 0;
    }
  }
#if TABLE
  EQ(0) = e0, EQ(1) = e1, EQ(2) = e2, EQ(3) = e3;
#endif
  word pv = ~0ull, mv = 0;
  int score = 64;
#pragma unroll 1
  for (int k = 0; k < 6; ++k) {
#if SIDE
    unsigned q = text[k * n + i];
#else
    unsigned q = text[i * 6 + k];
#endif
#pragma unroll UNROLL
    for (int b = 0; b < 16; ++b) {
      word eq = EQ(q & 3), xv = eq | mv, xh = (((eq & pv) + pv) ^ pv) | eq, ph = mv | ~(xh | pv), mh = pv & xh;
      q >>= 2;
      score += (int)(ph >> 63) - (int)(mh >> 63);
      ph = ph << 1 | 1, mh <<= 1;
      pv = mh | ~(xv | ph), mv = ph & xv;
    }
  }
  distance[i] = score;
}
