// Calls priced by a binomial tree of 1024 steps: LANES threads an option, each with neighbouring leaves in registers, which it takes AHEAD steps back at a time together
// with the first ones of the next thread; those come through shared memory, or by shuffles and only between warps through shared memory (SHUFFLE).
#define STEPS 1024
#define ITEMS (STEPS / LANES)
#define WARPS (LANES / 32)
extern "C" __global__ void binomial_options(const float* __restrict__ spot, const float* __restrict__ strike, const float* __restrict__ years, float* __restrict__ call, float rate, float volatility) {
#if SHUFFLE
  __shared__ float edge[2][OPTIONS][AHEAD][WARPS + 1];
#else
  __shared__ float edge[2][OPTIONS][AHEAD][LANES + 1];
#endif
  int lane = threadIdx.x, mine = threadIdx.y, option = blockIdx.x * OPTIONS + mine, first = lane * ITEMS;
  float s = 5 + 25 * spot[option], x = 1 + 49 * strike[option], dt = (0.25f + 9.75f * years[option]) / STEPS;
  float step = volatility * sqrtf(dt), grow = expf(rate * dt), up = expf(step), down = 1 / up;
  float chance = (grow - down) / (up - down), pu = chance / grow, pd = (1 - chance) / grow;
  float v[ITEMS + AHEAD];
#pragma unroll
  for (int i = 0; i < ITEMS; ++i) v[i] = fmaxf(s * expf(step * (2 * (first + i) - STEPS)) - x, 0.0f);
  if (lane < 2 * AHEAD) { // what lies beyond the last leaf but one
    int k = lane % AHEAD;
    float last = fmaxf(s * expf(step * (2 * k + STEPS)) - x, 0.0f);
    edge[lane / AHEAD][mine][k][SHUFFLE ? WARPS : LANES] = last;
  }
  __syncthreads();
  for (int left = STEPS, b = 0; left > 0; left -= AHEAD, b ^= 1) {
#if SHUFFLE
#if LANES > 32
    if (lane % 32 == 0)
#pragma unroll
      for (int k = 0; k < AHEAD; ++k) edge[b][mine][k][lane / 32] = v[k];
    __syncthreads();
#endif
#pragma unroll
    for (int k = 0; k < AHEAD; ++k) {
      float next = __shfl_down_sync(~0u, v[k], 1);
      v[ITEMS + k] = lane % 32 == 31 ? edge[b][mine][k][lane / 32 + 1] : next;
    }
#else
#pragma unroll
    for (int k = 0; k < AHEAD; ++k) edge[b][mine][k][lane] = v[k];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < AHEAD; ++k) v[ITEMS + k] = edge[b][mine][k][lane + 1];
#endif
    if (first <= left - AHEAD)
#pragma unroll
      for (int t = 1; t <= AHEAD; ++t)
#pragma unroll
        for (int j = 0; j < ITEMS + AHEAD - t; ++j) v[j] = pu * v[j + 1] + pd * v[j];
  }
  if (lane == 0) call[option] = v[0];
}
