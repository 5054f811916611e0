// Decoding of a compressed column of a database: blocks of 1024 integers, each block with a first value and a width of bits, deltas packed at that width one after the other. A thread unpacks PER neighbours and sums them up, warps by shuffles, the block by way of shared memory; packed words are taken from memory directly or staged in shared memory (STAGE); results leave as vectors from where they are, or through shared memory in order (TURN); BY blocks a CTA.
#define COUNT 1024
#define SLOT 512
#define TPB (COUNT / PER)
#define WARPS (TPB / 32)
extern "C" __global__ void __launch_bounds__(TPB * BY) for_unpack(const unsigned* __restrict__ packed, const int* __restrict__ offset, const unsigned char* __restrict__ width, const int* __restrict__ first, int* __restrict__ out) {
  __shared__ int total[BY][WARPS];
  int x = threadIdx.x, y = threadIdx.y, b = blockIdx.x * BY + y, bits = 4 + width[b];
  const unsigned* in = packed + offset[b];
#if STAGE
  __shared__ unsigned words[BY][SLOT + 1];
  for (int k = x; k <= 32 * bits; k += TPB) words[y][k] = in[k];
  __syncthreads();
  const unsigned* w = words[y];
#else
  const unsigned* w = in;
#endif
  unsigned mask = (1u << bits) - 1u;
  int v[PER], sum = 0;
#if STREAM
  int bit = x * PER * bits, at = bit >> 5, have = 32 - (bit & 31);
  unsigned long long hold = w[at] >> (bit & 31);
#pragma unroll
  for (int e = 0; e < PER; ++e) {
    if (have < bits) {
      hold |= (unsigned long long)w[++at] << have;
      have += 32;
    }
    sum += (int)((unsigned)hold & mask);
    v[e] = sum;
    hold >>= bits;
    have -= bits;
  }
#else
#pragma unroll
  for (int e = 0; e < PER; ++e) {
    int bit = (x * PER + e) * bits, at = bit >> 5;
    sum += (int)(__funnelshift_r(w[at], w[at + 1], bit & 31) & mask);
    v[e] = sum;
  }
#endif
  int before = sum;
#pragma unroll
  for (int d = 1; d < 32; d *= 2) {
    int other = __shfl_up_sync(0xffffffffu, before, d);
    if (x % 32 >= d) before += other;
  }
  if (x % 32 == 31) total[y][x / 32] = before;
  __syncthreads();
  before += first[b] - sum;
  for (int k = 0; k < x / 32; ++k) before += total[y][k];
  int* to = out + (size_t)b * COUNT;
#if TURN
  __shared__ int turned[BY][COUNT + COUNT / 32];
#pragma unroll
  for (int e = 0; e < PER; ++e) {
    int k = x * PER + e;
    turned[y][k + k / 32] = v[e] + before;
  }
  __syncthreads();
#pragma unroll
  for (int e = 0; e < PER; ++e) {
    int k = e * TPB + x;
    to[k] = turned[y][k + k / 32];
  }
#elif PER == 2
  ((int2*)to)[x] = make_int2(v[0] + before, v[1] + before);
#else
#pragma unroll
  for (int e = 0; e < PER; e += 4) ((int4*)to)[(x * PER + e) / 4] = make_int4(v[e] + before, v[e + 1] + before, v[e + 2] + before, v[e + 3] + before);
#endif
}
