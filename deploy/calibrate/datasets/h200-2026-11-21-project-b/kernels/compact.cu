// Keeps what is over a bound: places by an atomic a thread (0), a warp (1) or a block (2). The counter is never reset: places wrap around.
#define PLACES (1 << 25)
extern "C" __global__ void compact(const float* __restrict__ in, float* __restrict__ out, unsigned* __restrict__ count, float bound, int n) {
  int base = blockIdx.x * (BLOCK * ITEMS) + threadIdx.x, lane = threadIdx.x % 32;
#if MODE == 2
  __shared__ unsigned s[BLOCK / 32 + 1];
  float v[ITEMS];
  unsigned keep = 0, mine = 0;
#pragma unroll
  for (int k = 0; k < ITEMS; ++k) {
    int i = base + k * BLOCK;
    v[k] = i < n ? in[i] : bound;
    if (v[k] > bound) { keep |= 1u << k; ++mine; }
  }
  unsigned sum = mine;
#pragma unroll
  for (int d = 1; d < 32; d <<= 1) {
    unsigned o = __shfl_up_sync(0xffffffffu, sum, d);
    if (lane >= d) sum += o;
  }
  if (lane == 31) s[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    unsigned all = 0;
    for (int w = 0; w < BLOCK / 32; ++w) { unsigned o = s[w]; s[w] = all; all += o; }
    s[BLOCK / 32] = atomicAdd(count, all);
  }
  __syncthreads();
  unsigned to = s[BLOCK / 32] + s[threadIdx.x / 32] + sum - mine;
#pragma unroll
  for (int k = 0; k < ITEMS; ++k)
    if (keep >> k & 1) out[to++ & (PLACES - 1)] = v[k];
#else
#pragma unroll
  for (int k = 0; k < ITEMS; ++k) {
    int i = base + k * BLOCK;
    float v = i < n ? in[i] : bound;
#if MODE == 1
    unsigned kept = __ballot_sync(0xffffffffu, v > bound), to = 0;
    if (lane == 0 && kept) to = atomicAdd(count, __popc(kept));
    to = __shfl_sync(0xffffffffu, to, 0) + __popc(kept & ((1u << lane) - 1));
    if (v > bound) out[to & (PLACES - 1)] = v;
#else
    if (v > bound) out[atomicAdd(count, 1u) & (PLACES - 1)] = v;
#endif
  }
#endif
}
