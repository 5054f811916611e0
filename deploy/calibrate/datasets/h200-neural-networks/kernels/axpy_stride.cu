// y += a x by as many CTAs as are given, each thread VEC floats a step, or by one step of as many as there are (CTAS=0).
#if VEC == 1
typedef float word;
#elif VEC == 2
typedef float2 word;
#else
typedef float4 word;
#endif
extern "C" __global__ void axpy_stride(const float* __restrict__ x, float* __restrict__ y, float a, int n) {
  int words = n / VEC;
#pragma unroll UNROLL
  for (int i = blockIdx.x * BLOCK + threadIdx.x; i < words; i += gridDim.x * BLOCK) {
    word u = ((const word*)x)[i], v = ((const word*)y)[i];
#pragma unroll
    for (int j = 0; j < VEC; ++j) ((float*)&v)[j] += a * ((const float*)&u)[j];
    ((word*)y)[i] = v;
  }
}
