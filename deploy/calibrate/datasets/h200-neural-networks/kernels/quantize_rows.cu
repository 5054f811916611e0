// Rows of floats to bytes by each row's greatest amount; what was read stays in registers (KEEP) or is read again.
#define COLS 2048
#define PER (COLS / (TPR * 4))
extern "C" __global__ void quantize_rows(const float* __restrict__ x, int* __restrict__ q, float* __restrict__ scale, int rows) {
  int row = blockIdx.x * RPB + threadIdx.y, t = threadIdx.x;
  const float4* r = (const float4*)(x + (size_t)row * COLS);
  float m = 0;
#if KEEP
  float4 kept[PER];
#pragma unroll
#else
#pragma unroll 2
#endif
  for (int k = 0; k < PER; ++k) {
    float4 v = r[k * TPR + t];
#if KEEP
    kept[k] = v;
#endif
    m = fmaxf(fmaxf(m, fmaxf(fabsf(v.x), fabsf(v.y))), fmaxf(fabsf(v.z), fabsf(v.w)));
  }
#pragma unroll
  for (int d = 16; d; d >>= 1) m = fmaxf(m, __shfl_xor_sync(~0u, m, d));
#if TPR > 32
  __shared__ float part[RPB][TPR / 32];
  if (t % 32 == 0) part[threadIdx.y][t / 32] = m;
  __syncthreads();
#pragma unroll
  for (int w = 0; w < TPR / 32; ++w) m = fmaxf(m, part[threadIdx.y][w]);
#endif
  float s = 127.0f / fmaxf(m, 1e-8f);
#if KEEP
#pragma unroll
#else
#pragma unroll 2
#endif
  for (int k = 0; k < PER; ++k) {
#if KEEP
    float4 v = kept[k];
#else
    float4 v = r[k * TPR + t];
#endif
    int a = __float2int_rn(v.x * s), b = __float2int_rn(v.y * s), c = __float2int_rn(v.z * s), d = __float2int_rn(v.w * s);
    q[(size_t)row * (COLS / 4) + k * TPR + t] = (a & 255) | (b & 255) << 8 | (c & 255) << 16 | d << 24;
  }
  if (t == 0) scale[row] = m / 127.0f;
}
