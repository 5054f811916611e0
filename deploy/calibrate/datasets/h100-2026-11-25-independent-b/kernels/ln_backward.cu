// Layer norm's gradient for its input, rows of 2048 halves: TPR threads a row, ROWS rows a CTA, VEC halves a load; what was read stays in registers (KEEP) or is read again after the two sums are known.
#include <cuda_fp16.h>
#define COLS 2048
#define STEPS (COLS / (TPR * VEC))
#define WARPS (TPR / 32)
#if VEC == 8
typedef uint4 word;
#elif VEC == 4
typedef uint2 word;
#else
typedef unsigned word;
#endif
extern "C" __global__ void __launch_bounds__(TPR * ROWS) ln_backward(const __half* __restrict__ x, const __half* __restrict__ dy, const float* __restrict__ gamma, const float* __restrict__ mean, const float* __restrict__ rstd, __half* __restrict__ dx) {
  int row = blockIdx.x * ROWS + threadIdx.y;
  const word* xr = (const word*)(x + (size_t)row * COLS);
  const word* gr = (const word*)(dy + (size_t)row * COLS);
  word* out = (word*)(dx + (size_t)row * COLS);
  float m = mean[row], r = rstd[row], s = 0.0f, q = 0.0f;
#if KEEP
  word xs[STEPS], gs[STEPS];
#endif
#pragma unroll
  for (int k = 0; k < STEPS; ++k) {
    int c = k * TPR + threadIdx.x;
    word a = xr[c], b = gr[c];
#if KEEP
    xs[k] = a, gs[k] = b;
#endif
    const __half2 *ah = (const __half2*)&a, *bh = (const __half2*)&b;
    const float2* w = (const float2*)(gamma + c * VEC);
#pragma unroll
    for (int v = 0; v < VEC / 2; ++v) {
      float2 xf = __half22float2(ah[v]), g = __half22float2(bh[v]), wf = w[v];
      g.x *= wf.x, g.y *= wf.y;
      s += g.x + g.y;
      q += g.x * (xf.x - m) * r + g.y * (xf.y - m) * r;
    }
  }
#pragma unroll
  for (int d = 16; d; d /= 2) {
    s += __shfl_xor_sync(0xffffffffu, s, d);
    q += __shfl_xor_sync(0xffffffffu, q, d);
  }
#if TPR > 32
  __shared__ float2 part[ROWS][WARPS];
  if (threadIdx.x % 32 == 0) part[threadIdx.y][threadIdx.x / 32] = make_float2(s, q);
  __syncthreads();
  s = q = 0.0f;
#pragma unroll
  for (int w = 0; w < WARPS; ++w) s += part[threadIdx.y][w].x, q += part[threadIdx.y][w].y;
#endif
  s *= 1.0f / COLS, q *= 1.0f / COLS;
#pragma unroll
  for (int k = 0; k < STEPS; ++k) {
    int c = k * TPR + threadIdx.x;
#if KEEP
    word a = xs[k], b = gs[k];
#else
    word a = xr[c], b = gr[c];
#endif
    const __half2 *ah = (const __half2*)&a, *bh = (const __half2*)&b;
    const float2* w = (const float2*)(gamma + c * VEC);
    word o;
    __half2* oh = (__half2*)&o;
#pragma unroll
    for (int v = 0; v < VEC / 2; ++v) {
      float2 xf = __half22float2(ah[v]), g = __half22float2(bh[v]), wf = w[v];
      float u = (g.x * wf.x - s - (xf.x - m) * r * q) * r, t = (g.y * wf.y - s - (xf.y - m) * r * q) * r;
      oh[v] = __floats2half2_rn(u, t);
    }
    out[c] = o;
  }
}
