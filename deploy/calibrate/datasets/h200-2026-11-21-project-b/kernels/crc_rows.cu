// Checksums of messages of 64 words, word by word side by side; the table in global, shared or constant memory, one byte or four at a time.
__constant__ unsigned fixed[1024];
extern "C" __global__ void crc_rows(const unsigned* __restrict__ data, const unsigned* __restrict__ table, unsigned* __restrict__ sums, int n) {
#if TABLE == 1
  __shared__ unsigned s[SLICES * 256];
  for (int i = threadIdx.x; i < SLICES * 256; i += BLOCK) s[i] = table[i];
  __syncthreads();
#define T(i) s[i]
#elif TABLE == 2
#define T(i) fixed[i]
#else
#define T(i) table[i]
#endif
  int t = blockIdx.x * BLOCK + threadIdx.x;
  if (t >= n) return;
  unsigned crc = 0xffffffffu;
#pragma unroll UNROLL
  for (int i = 0; i < 64; ++i) {
    unsigned v = data[(size_t)i * n + t];
#if SLICES == 4
    v ^= crc;
    crc = T(v >> 24) ^ T(256 + (v >> 16 & 255)) ^ T(512 + (v >> 8 & 255)) ^ T(768 + (v & 255));
#else
#pragma unroll
    for (int b = 0; b < 4; ++b, v >>= 8) crc = crc >> 8 ^ T((crc ^ v) & 255);
#endif
  }
  sums[t] = ~crc;
}
