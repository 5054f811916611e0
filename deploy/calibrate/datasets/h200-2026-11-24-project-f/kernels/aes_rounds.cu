// Ten rounds of AES by tables in shared memory, one of 256 words rotated or four.
__constant__ unsigned keys[44];
extern "C" __global__ void aes_rounds(const uint4* __restrict__ in, const unsigned* __restrict__ table, uint4* __restrict__ out, int n) {
  __shared__ unsigned t[TABLES][256];
  for (int k = threadIdx.x; k < 256; k += BLOCK)
#pragma unroll
    for (int s = 0; s < TABLES; ++s) t[s][k] = __funnelshift_l(table[k], table[k], 8 * s);
  __syncthreads();
#if TABLES == 4
#define T(s, x) t[s][x]
#else
#define T(s, x) __funnelshift_l(t[0][x], t[0][x], 8 * (s))
#endif
  for (int i = blockIdx.x * BLOCK * EACH + threadIdx.x, k = 0; k < EACH && i < n; ++k, i += BLOCK) {
    uint4 v = in[i];
    unsigned a = v.x ^ keys[0], b = v.y ^ keys[1], c = v.z ^ keys[2], d = v.w ^ keys[3];
#pragma unroll UNROLL
    for (int r = 1; r <= 10; ++r) {
      unsigned e = T(0, a & 255) ^ T(1, b >> 8 & 255) ^ T(2, c >> 16 & 255) ^ T(3, d >> 24) ^ keys[4 * r];
      unsigned f = T(0, b & 255) ^ T(1, c >> 8 & 255) ^ T(2, d >> 16 & 255) ^ T(3, a >> 24) ^ keys[4 * r + 1];
      unsigned g = T(0, c & 255) ^ T(1, d >> 8 & 255) ^ T(2, a >> 16 & 255) ^ T(3, b >> 24) ^ keys[4 * r + 2];
      unsigned h = T(0, d & 255) ^ T(1, a >> 8 & 255) ^ T(2, b >> 16 & 255) ^ T(3, c >> 24) ^ keys[4 * r + 3];
      a = e, b = f, c = g, d = h;
    }
    out[i] = make_uint4(a, b, c, d);
  }
}
