// Transposed matrix times vector: a thread sums VEC columns over ROWS rows and adds what it has by an atomic.
#if VEC == 1
typedef float word;
#elif VEC == 2
typedef float2 word;
#else
typedef float4 word;
#endif
extern "C" __global__ void gemv_columns(const float* __restrict__ a, const float* __restrict__ x, float* __restrict__ y, int rows, int cols) {
  int c = (blockIdx.x * BLOCK + threadIdx.x) * VEC, r = blockIdx.y * ROWS, end = min(r + ROWS, rows);
  float s[VEC] = {};
#pragma unroll UNROLL
  for (; r < end; ++r) {
    word v = *(const word*)(a + (size_t)r * cols + c);
    float f = x[r];
#pragma unroll
    for (int j = 0; j < VEC; ++j) s[j] += f * ((const float*)&v)[j];
  }
#pragma unroll
  for (int j = 0; j < VEC; ++j) atomicAdd(y + c + j, s[j]);
}
