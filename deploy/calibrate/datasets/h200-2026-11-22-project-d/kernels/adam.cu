// A step of Adam with weight decay: a thread ITEMS times VEC parameters at once, in a grid of all of them, or (LOOP) of the threads that the GPU holds, which go on; gradients are
// floats or halves (HALF).
#include <cuda_fp16.h>
#if VEC == 1
typedef float word;
typedef unsigned short narrow;
#elif VEC == 2
typedef float2 word;
typedef unsigned narrow;
#else
typedef float4 word;
typedef uint2 narrow;
#endif
#if HALF
typedef __half real;
union Gradient { narrow bits; __half x[VEC]; __device__ Gradient() {} };
#else
typedef float real;
union Gradient { word bits; float x[VEC]; __device__ Gradient() {} };
#endif
extern "C" __global__ void adam(float* __restrict__ p, const real* __restrict__ g, float* __restrict__ m, float* __restrict__ v, int n, float rate, float b1, float b2, float c1, float c2, float eps, float decay) {
  int words = n / VEC;
#if LOOP
  for (int base = blockIdx.x * BLOCK * ITEMS + threadIdx.x; base < words; base += gridDim.x * BLOCK * ITEMS) {
#else
  int base = blockIdx.x * BLOCK * ITEMS + threadIdx.x;
  {
#endif
    Gradient gs[ITEMS];
    word ps[ITEMS], ms[ITEMS], vs[ITEMS];
#pragma unroll
    for (int k = 0; k < ITEMS; ++k) {
      int i = base + k * BLOCK;
      if (i < words) {
        gs[k].bits = ((decltype(gs[k].bits) const*)g)[i];
        ps[k] = ((const word*)p)[i], ms[k] = ((const word*)m)[i], vs[k] = ((const word*)v)[i];
      }
    }
#pragma unroll
    for (int k = 0; k < ITEMS; ++k) {
      int i = base + k * BLOCK;
      if (i < words) {
#pragma unroll
        for (int j = 0; j < VEC; ++j) {
          float x = gs[k].x[j];
          float &pj = ((float*)&ps[k])[j], &mj = ((float*)&ms[k])[j], &vj = ((float*)&vs[k])[j];
          mj = b1 * mj + (1 - b1) * x;
          vj = b2 * vj + (1 - b2) * x * x;
          pj -= rate * (c1 * mj / (sqrtf(c2 * vj) + eps) + decay * pj);
        }
        ((word*)p)[i] = ps[k], ((word*)m)[i] = ms[k], ((word*)v)[i] = vs[k];
      }
    }
  }
}
