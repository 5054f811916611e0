// Rows put in another order: row i goes to row to[i]; BX threads a row, VEC words each a step.
#if VEC == 1
typedef float word;
#elif VEC == 2
typedef float2 word;
#else
typedef float4 word;
#endif
extern "C" __global__ void scatter_rows(const float* __restrict__ x, const int* __restrict__ to, float* __restrict__ y, int n, int dim) {
#pragma unroll
  for (int k = 0; k < PER; ++k) {
    int i = (blockIdx.x * PER + k) * BY + threadIdx.y;
    if (i >= n) return;
    int r = to[i];
    for (int c = threadIdx.x * VEC; c < dim; c += BX * VEC) *(word*)(y + (size_t)r * dim + c) = *(const word*)(x + (size_t)i * dim + c);
  }
}
