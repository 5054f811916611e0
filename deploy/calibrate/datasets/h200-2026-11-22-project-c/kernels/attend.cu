// What one token attends to: a block a head, warps take tokens in turn, AHEAD at a time, and keep a running softmax that is put together at the end.
#define DIM 128
extern "C" __global__ void attend(const float* __restrict__ q, const float* __restrict__ keys, const float* __restrict__ values, float* __restrict__ out, int tokens) {
  __shared__ float most[WARPS], sum[WARPS];
  __shared__ __align__(16) float part[WARPS][DIM];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const float* k = keys + (size_t)blockIdx.x * tokens * DIM;
  const float* v = values + (size_t)blockIdx.x * tokens * DIM;
  float4 mine = *(const float4*)(q + (size_t)blockIdx.x * DIM + lane * 4), acc = {0, 0, 0, 0};
  float m = -1e30f, s = 0;
  for (int t0 = warp * AHEAD; t0 < tokens; t0 += WARPS * AHEAD) {
    float dot[AHEAD];
#pragma unroll
    for (int i = 0; i < AHEAD; ++i) {
      float4 x = *(const float4*)(k + (size_t)(t0 + i) * DIM + lane * 4);
      dot[i] = x.x * mine.x + x.y * mine.y + x.z * mine.z + x.w * mine.w;
    }
#pragma unroll
    for (int i = 0; i < AHEAD; ++i)
#pragma unroll
      for (int d = 16; d; d >>= 1) dot[i] += __shfl_xor_sync(~0u, dot[i], d);
    float high = m;
#pragma unroll
    for (int i = 0; i < AHEAD; ++i) high = fmaxf(high, dot[i]);
    float fade = __expf(m - high);
    m = high;
    s *= fade;
    acc.x *= fade, acc.y *= fade, acc.z *= fade, acc.w *= fade;
#pragma unroll
    for (int i = 0; i < AHEAD; ++i) {
      float w = __expf(dot[i] - m);
      float4 x = *(const float4*)(v + (size_t)(t0 + i) * DIM + lane * 4);
      s += w;
      acc.x += w * x.x, acc.y += w * x.y, acc.z += w * x.z, acc.w += w * x.w;
    }
  }
  if (lane == 0) most[warp] = m, sum[warp] = s;
  *(float4*)&part[warp][lane * 4] = acc;
  __syncthreads();
  float high = -1e30f, all = 0;
  for (int w = 0; w < WARPS; ++w) high = fmaxf(high, most[w]);
  for (int w = 0; w < WARPS; ++w) all += sum[w] * __expf(most[w] - high);
  for (int d = threadIdx.x; d < DIM; d += WARPS * 32) {
    float r = 0;
    for (int w = 0; w < WARPS; ++w) r += part[w][d] * __expf(most[w] - high);
    out[(size_t)blockIdx.x * DIM + d] = r / all;
  }
}
