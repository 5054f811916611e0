// A pattern automaton of 64 states run over many strings of 256 bytes: PER strings a thread side by side, matches counted. The table lies in global (TABLE 0), shared (1) or constant memory (2), whole by bytes or, with CLASSES, by 32 classes of bytes behind a second small table; strings lie one after another or are interleaved (WOVEN), and are read WIDE bytes at a time.
#define LENGTH 256
#define FULL 16384
#define SMALL 2048
__constant__ unsigned char fsm[FULL + SMALL + 256];
#if WIDE == 16
typedef uint4 piece;
#else
typedef unsigned piece;
#endif
union bite { piece v; unsigned w[WIDE / 4]; };
#if CLASSES
#define FIRST FULL
#define BYTES (SMALL + 256)
#else
#define FIRST 0
#define BYTES FULL
#endif
extern "C" __global__ void __launch_bounds__(BLOCK) dfa_match(const unsigned char* __restrict__ text, const unsigned char* __restrict__ table, int* __restrict__ out, int n) {
  int t = threadIdx.x, s0 = blockIdx.x * (BLOCK * PER) + t;
#if TABLE == 1
  __shared__ __align__(16) unsigned char near[BYTES];
#pragma unroll 4
  for (int k = t; k < BYTES / 16; k += BLOCK) ((uint4*)near)[k] = ((const uint4*)(table + FIRST))[k];
  __syncthreads();
#define LOOK(i) near[i]
#elif TABLE == 2
#define LOOK(i) fsm[FIRST + (i)]
#else
#define LOOK(i) __ldg(table + FIRST + (i))
#endif
  unsigned state[PER], hits[PER];
#pragma unroll
  for (int p = 0; p < PER; ++p) state[p] = fsm[0], hits[p] = 0;
#pragma unroll 1
  for (int k = 0; k < LENGTH / WIDE; ++k) {
    bite b[PER];
#pragma unroll
    for (int p = 0; p < PER; ++p) {
      int s = s0 + p * BLOCK;
#if WOVEN
      b[p].v = __ldg((const piece*)text + (size_t)k * n + s);
#else
      b[p].v = __ldg((const piece*)(text + (size_t)s * LENGTH) + k);
#endif
    }
#pragma unroll
    for (int e = 0; e < WIDE; ++e)
#pragma unroll
      for (int p = 0; p < PER; ++p) {
        unsigned symbol = b[p].w[e / 4] >> (e % 4 * 8) & 255u;
#if CLASSES
        state[p] = LOOK(state[p] * 32 + LOOK(SMALL + symbol));
#else
        state[p] = LOOK(state[p] * 256 + symbol);
#endif
        hits[p] += state[p] >= 56u;
      }
  }
#pragma unroll
  for (int p = 0; p < PER; ++p) out[s0 + p * BLOCK] = (int)(hits[p] * 64 + state[p]);
}
