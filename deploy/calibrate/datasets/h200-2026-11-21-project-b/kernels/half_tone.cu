// A polynomial in half precision, pairs of numbers, VEC pairs a thread and step.
#include <cuda_fp16.h>
struct alignas(4 * VEC) Pairs { __half2 p[VEC]; };
extern "C" __global__ void half_tone(const Pairs* __restrict__ in, Pairs* __restrict__ out, int steps) {
  int t = blockIdx.x * BLOCK + threadIdx.x, stride = gridDim.x * BLOCK;
  const __half2 lo = __floats2half2_rn(0.0f, 0.0f), hi = __floats2half2_rn(1.0f, 1.0f);
#pragma unroll UNROLL
  for (int k = 0; k < steps; ++k) {
    Pairs v = in[t + k * stride];
#pragma unroll
    for (int i = 0; i < VEC; ++i) {
      __half2 x = v.p[i], y = __floats2half2_rn(0.25f, 0.25f);
#pragma unroll
      for (int d = 1; d <= DEGREE; ++d) y = __hfma2(y, x, __floats2half2_rn(0.5f / d, -0.25f / d));
      v.p[i] = __hmin2(__hmax2(y, lo), hi);
    }
    out[t + k * stride] = v;
  }
}
