// One block of SHA-256 a thread; the message words are where the threads of a warp read them together or a thread's lie next to each other.
__constant__ unsigned K[64];
#define R(x, k) __funnelshift_r(x, x, k)
extern "C" __global__ void sha_rounds(const unsigned* __restrict__ message, unsigned* __restrict__ digest, int n) {
  int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i >= n) return;
  unsigned w[16];
#pragma unroll
  for (int k = 0; k < 16; ++k) w[k] = TURNED ? message[k * n + i] : message[i * 16 + k];
  unsigned a = 0x6a09e667, b = 0xbb67ae85, c = 0x3c6ef372, d = 0xa54ff53a, e = 0x510e527f, f = 0x9b05688c, g = 0x1f83d9ab, h = 0x5be0cd19;
#if WHOLE
#pragma unroll
#else
#pragma unroll 1
#endif
  for (int r = 0; r < 64; r += 16) {
#pragma unroll
    for (int k = 0; k < 16; ++k) {
      if (r) {
        unsigned x = w[(k + 1) & 15], y = w[(k + 14) & 15];
        w[k] += (R(x, 7) ^ R(x, 18) ^ x >> 3) + w[(k + 9) & 15] + (R(y, 17) ^ R(y, 19) ^ y >> 10);
      }
      unsigned u = h + (R(e, 6) ^ R(e, 11) ^ R(e, 25)) + ((e & f) ^ (~e & g)) + K[r + k] + w[k];
      unsigned v = (R(a, 2) ^ R(a, 13) ^ R(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
      h = g, g = f, f = e, e = d + u, d = c, c = b, b = a, a = u + v;
    }
  }
  digest[i] = a + 0x6a09e667, digest[n + i] = b + 0xbb67ae85, digest[2 * n + i] = c, digest[3 * n + i] = d + e + f + g + h;
}
