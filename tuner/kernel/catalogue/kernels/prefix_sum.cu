// Inclusive prefix sum within each block's segment. SCAN=0: Hillis-Steele in shared memory, two barriers a step; 1: warp
// shuffles, then the warps' totals; 2: a work-efficient tree (Brent-Kung), with PAD words skipped after every 32 against conflicts.
#define AT(i) ((i) + (i) / 32 * PAD)
extern "C" __global__ void prefix_sum(const int* __restrict__ in, int* __restrict__ out, int n) {
  int t = threadIdx.x, i = blockIdx.x * BLOCK_SIZE + t;
  int v = i < n ? in[i] : 0;
#if SCAN == 0
  __shared__ int s[BLOCK_SIZE];
  s[t] = v;
  for (int d = 1; d < BLOCK_SIZE; d *= 2) {
    __syncthreads();
    int left = t >= d ? s[t - d] : 0;
    __syncthreads();
    s[t] += left;
  }
  v = s[t];
#elif SCAN == 1
  __shared__ int s[32];
#pragma unroll
  for (int d = 1; d < 32; d *= 2) {
    int left = __shfl_up_sync(0xffffffffu, v, d);
    if (t % 32 >= d) v += left;
  }
  if (t % 32 == 31) s[t / 32] = v;
  __syncthreads();
  int before = 0;
  for (int w = 0; w < t / 32; ++w) before += s[w];
  v += before;
#else
  __shared__ int s[AT(BLOCK_SIZE)];
  s[AT(t)] = v;
  for (int d = 1; d < BLOCK_SIZE; d *= 2) {
    __syncthreads();
    int r = (t + 1) * 2 * d - 1;
    if (r < BLOCK_SIZE) s[AT(r)] += s[AT(r - d)];
  }
  for (int d = BLOCK_SIZE / 4; d > 0; d /= 2) {
    __syncthreads();
    int l = (t + 1) * 2 * d - 1;
    if (l + d < BLOCK_SIZE) s[AT(l + d)] += s[AT(l)];
  }
  __syncthreads();
  v = s[AT(t)];
#endif
  if (i < n) out[i] = v;
}
