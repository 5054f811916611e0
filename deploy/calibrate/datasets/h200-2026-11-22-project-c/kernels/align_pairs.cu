// Smith-Waterman scores of pairs of sequences of 256: LANES threads a pair, each 256/LANES columns in registers, which pass what lies between them by shuffles.
#define LEN 256
#define COLS (LEN / LANES)
extern "C" __global__ void align_pairs(const int* __restrict__ left, const int* __restrict__ right, int* __restrict__ score) {
  int lane = threadIdx.x % LANES, pair = (blockIdx.x * blockDim.x + threadIdx.x) / LANES;
  const int* l = left + (size_t)pair * LEN;
  const int* r = right + (size_t)pair * LEN + lane * COLS;
  int letter[COLS], h[COLS], e[COLS];
#pragma unroll
  for (int j = 0; j < COLS; ++j) letter[j] = r[j] & 3, h[j] = 0, e[j] = 0;
  int corner = 0, best = 0, last = 0, lastf = 0, mine = 0;
  for (int step = 0; step < LEN + LANES - 1; ++step) {
    int up = __shfl_up_sync(~0u, last, 1, LANES), f = __shfl_up_sync(~0u, lastf, 1, LANES);
    if (lane == 0) up = f = 0;
    int row = step - lane;
    if (row >= 0 && row < LEN) {
      mine = l[row] & 3;
      int diag = corner;
      corner = up;
      int beside = up;
#pragma unroll
      for (int j = 0; j < COLS; ++j) {
        e[j] = max(e[j] - 1, h[j] - 3);
        f = max(f - 1, beside - 3);
        int v = diag + (mine == letter[j] ? 2 : -1);
        v = max(max(v, 0), max(e[j], f));
        diag = h[j];
        h[j] = v;
        beside = v;
        best = max(best, v);
      }
      last = beside, lastf = f;
    }
  }
  for (int d = LANES / 2; d; d >>= 1) best = max(best, __shfl_xor_sync(~0u, best, d, LANES));
  if (lane == 0) score[pair] = best;
}
