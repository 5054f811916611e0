// Forward probabilities of CTC: sequences of 300 steps, labels of 100 with blanks between, LANES threads a sequence and SEQS sequences a CTA; a thread's states next to each other (NEAR) or LANES apart, two columns in shared memory in turn; the step's scores from shared memory, one step ahead (STAGE), or gathered; logarithms exact or fast.
#define STEPS 300
#define WORDS 64
#define LABELS 100
#define STATES (2 * LABELS + 1)
#define PER ((STATES + LANES - 1) / LANES)
#if FAST
#define EXP __expf
#define LOG __logf
#else
#define EXP expf
#define LOG logf
#endif
#if LANES == 32
#define SYNC __syncwarp()
#else
#define SYNC __syncthreads()
#endif
#define NONE (-1e30f)
#if NEAR
#define STATE(p) (lane * PER + (p))
#else
#define STATE(p) (lane + (p) * LANES)
#endif
extern "C" __global__ void __launch_bounds__(LANES * SEQS) ctc_alpha(const float* __restrict__ score, const int* __restrict__ label, float* __restrict__ loss) {
  __shared__ float column[SEQS][2][STATES + 2];
  int lane = threadIdx.x, seq = blockIdx.x * SEQS + threadIdx.y;
  float(*mine)[STATES + 2] = column[threadIdx.y];
  const float* from = score + (size_t)seq * STEPS * WORDS;
  int word[PER];
  bool skip[PER];
#if STAGE
  __shared__ float rows[SEQS][2][WORDS];
  float(*row)[WORDS] = rows[threadIdx.y];
  for (int k = lane; k < WORDS; k += LANES) row[1][k] = from[WORDS + k];
#endif
#pragma unroll
  for (int p = 0; p < PER; ++p) {
    int s = STATE(p);
    word[p] = 0, skip[p] = false;
    if (s < STATES) {
      if (s & 1) {
        word[p] = label[seq * LABELS + s / 2];
        skip[p] = s > 1 && word[p] != label[seq * LABELS + s / 2 - 1];
      }
      mine[0][s + 2] = s < 2 ? from[word[p]] : NONE;
    }
  }
  if (lane < 2) mine[0][lane] = mine[1][lane] = NONE;
  SYNC;
#pragma unroll 1
  for (int t = 1; t < STEPS; ++t) {
    const float* old = mine[t + 1 & 1];
    float* now = mine[t & 1];
#if STAGE
    if (t + 1 < STEPS)
      for (int k = lane; k < WORDS; k += LANES) row[t + 1 & 1][k] = from[(t + 1) * WORDS + k];
#endif
#pragma unroll
    for (int p = 0; p < PER; ++p) {
      int s = STATE(p);
      if (s < STATES) {
        float a = old[s + 2], b = old[s + 1], c = skip[p] ? old[s] : NONE, m = fmaxf(a, fmaxf(b, c));
#if STAGE
        float e = row[t & 1][word[p]];
#else
        float e = from[t * WORDS + word[p]];
#endif
        now[s + 2] = m + LOG(EXP(a - m) + EXP(b - m) + EXP(c - m)) + e;
      }
    }
    SYNC;
  }
  if (lane == 0) {
    const float* last = mine[STEPS - 1 & 1];
    float a = last[STATES + 1], b = last[STATES], m = fmaxf(a, b);
    loss[seq] = -(m + LOG(EXP(a - m) + EXP(b - m)));
  }
}
