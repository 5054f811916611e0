// Selective state-space scan (as in Mamba), a CTA a channel with 16 states over 2048 steps, BLOCK*ITEMS steps at a time: each thread runs over ITEMS steps, pairs of decay and input are scanned by shuffles and across warps; decays stay in registers (KEEP) or are computed twice; exponentials exact or fast.
#define STEPS 2048
#define STATES 16
#define WARPS (BLOCK / 32)
#if FAST
#define DECAY(dt, a) __expf((dt) * (a))
#else
#define DECAY(dt, a) expf((dt) * (a))
#endif
extern "C" __global__ void __launch_bounds__(BLOCK) ssm_scan(const float* __restrict__ u, const float* __restrict__ delta, const float* __restrict__ decay, const float* __restrict__ b, const float* __restrict__ c, float* __restrict__ y, int channels) {
  __shared__ float2 last[2][WARPS];
  __shared__ float carry[STATES];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32, channel = blockIdx.x, batch = blockIdx.y;
  size_t row = ((size_t)batch * channels + channel) * STEPS;
  if (threadIdx.x < STATES) carry[threadIdx.x] = 0.0f;
  __syncthreads();
#pragma unroll 1
  for (int t0 = 0; t0 < STEPS; t0 += BLOCK * ITEMS) {
    int t = t0 + threadIdx.x * ITEMS;
    float dt[ITEMS], du[ITEMS], sum[ITEMS];
#pragma unroll
    for (int k = 0; k < ITEMS; k += 4) {
      float4 p = *(const float4*)(delta + row + t + k), q = *(const float4*)(u + row + t + k);
      dt[k] = p.x, dt[k + 1] = p.y, dt[k + 2] = p.z, dt[k + 3] = p.w;
      du[k] = p.x * q.x, du[k + 1] = p.y * q.y, du[k + 2] = p.z * q.z, du[k + 3] = p.w * q.w;
    }
#pragma unroll
    for (int k = 0; k < ITEMS; ++k) sum[k] = 0.0f;
#pragma unroll 1
    for (int n = 0; n < STATES; ++n) {
      float a = -decay[channel * STATES + n], before = carry[n];
      const float* bn = b + ((size_t)batch * STATES + n) * STEPS + t;
      const float* cn = c + ((size_t)batch * STATES + n) * STEPS + t;
      float in[ITEMS];
#if KEEP
      float f[ITEMS];
#endif
      float prod = 1.0f, h = 0.0f;
#pragma unroll
      for (int k = 0; k < ITEMS; k += 4) {
        float4 q = *(const float4*)(bn + k);
        in[k] = du[k] * q.x, in[k + 1] = du[k + 1] * q.y, in[k + 2] = du[k + 2] * q.z, in[k + 3] = du[k + 3] * q.w;
      }
#pragma unroll
      for (int k = 0; k < ITEMS; ++k) {
        float e = DECAY(dt[k], a);
#if KEEP
        f[k] = e;
#endif
        prod *= e;
        h = h * e + in[k];
      }
#pragma unroll
      for (int d = 1; d < 32; d *= 2) {
        float p = __shfl_up_sync(0xffffffffu, prod, d), q = __shfl_up_sync(0xffffffffu, h, d);
        if (lane >= d) h += prod * q, prod *= p;
      }
      if (lane == 31) last[n & 1][warp] = make_float2(prod, h);
      __syncthreads();
      float start = before, end = before;
#pragma unroll
      for (int w = 0; w < WARPS; ++w) {
        float2 q = last[n & 1][w];
        if (w == warp) start = end;
        end = end * q.x + q.y;
      }
      if (threadIdx.x == 0) carry[n] = end;
      float p = __shfl_up_sync(0xffffffffu, prod, 1), q = __shfl_up_sync(0xffffffffu, h, 1);
      h = lane ? start * p + q : start;
#pragma unroll
      for (int k = 0; k < ITEMS; k += 4) {
        float4 q = *(const float4*)(cn + k);
        float w[4] = {q.x, q.y, q.z, q.w};
#pragma unroll
        for (int j = 0; j < 4; ++j) {
#if KEEP
          h = h * f[k + j] + in[k + j];
#else
          h = h * DECAY(dt[k + j], a) + in[k + j];
#endif
          sum[k + j] += h * w[j];
        }
      }
    }
#pragma unroll
    for (int k = 0; k < ITEMS; k += 4) *(float4*)(y + row + t + k) = make_float4(sum[k], sum[k + 1], sum[k + 2], sum[k + 3]);
  }
}
