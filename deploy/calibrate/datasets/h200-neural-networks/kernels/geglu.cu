// One half of each row times GELU of the other, by erf or by tanh.
#if VEC == 1
typedef float word;
#elif VEC == 2
typedef float2 word;
#else
typedef float4 word;
#endif
__device__ __forceinline__ float gelu(float v) {
#if TANH
  float u = 0.7978845608f * (v + 0.044715f * v * v * v);
  return 0.5f * v * (1.0f + tanhf(u));
#else
  return 0.5f * v * (1.0f + erff(v * 0.70710678f));
#endif
}
extern "C" __global__ void geglu(const float* __restrict__ x, float* __restrict__ y, int rows, int cols) {
#pragma unroll
  for (int k = 0; k < ITEMS; ++k) {
    int i = ((blockIdx.x * ITEMS + k) * BLOCK + threadIdx.x) * VEC;
    if (i >= rows * cols) return;
    int r = i / cols, c = i - r * cols;
    const float* row = x + (size_t)r * 2 * cols + c;
    word a = *(const word*)row, b = *(const word*)(row + cols);
#pragma unroll
    for (int j = 0; j < VEC; ++j) ((float*)&a)[j] *= gelu(((const float*)&b)[j]);
    *(word*)(y + i) = a;
  }
}
