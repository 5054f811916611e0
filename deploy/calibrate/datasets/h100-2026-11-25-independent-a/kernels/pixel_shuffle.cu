// Depth to space by two: four channels become the pixels of 2x2 squares; a thread VEC columns of the input, for one row of the output or (ROWS 2) both, of CPT channels.
#if VEC == 4
typedef float4 vec;
#elif VEC == 2
typedef float2 vec;
#else
typedef float vec;
#endif
extern "C" __global__ void pixel_shuffle(const float* __restrict__ in, float* __restrict__ out, int h, int w) {
  int x = (blockIdx.x * block_size_x + threadIdx.x) * VEC, yy = blockIdx.y * block_size_y + threadIdx.y;
#if ROWS == 2
  int y = yy, r0 = 0;
#else
  int y = yy / 2, r0 = yy % 2;
#endif
#pragma unroll
  for (int k = 0; k < CPT; ++k) {
    int c = blockIdx.z * CPT + k;
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
      const float* p = in + ((size_t)(c * 4 + 2 * (r0 + r)) * h + y) * w + x;
      vec a = *(const vec*)p, b = *(const vec*)(p + (size_t)h * w);
      float* q = out + ((size_t)c * 2 * h + 2 * y + r0 + r) * 2 * w + 2 * x;
#if VEC == 4
      *(float4*)q = make_float4(a.x, b.x, a.y, b.y);
      *(float4*)(q + 4) = make_float4(a.z, b.z, a.w, b.w);
#elif VEC == 2
      *(float4*)q = make_float4(a.x, b.x, a.y, b.y);
#else
      *(float2*)q = make_float2(a, b);
#endif
    }
  }
}
