// A filter of 3x3 for each channel of an image whose channels lie next to each other: BX threads of VEC channels, each PIXELS neighbours of a row.
#define W 224
#define H 224
#define C 128
#if VEC == 1
typedef float word;
#elif VEC == 2
typedef float2 word;
#else
typedef float4 word;
#endif
__device__ void fma_(float& s, float a, float b) { s += a * b; }
__device__ void fma_(float2& s, float2 a, float2 b) { s.x += a.x * b.x, s.y += a.y * b.y; }
__device__ void fma_(float4& s, float4 a, float4 b) { s.x += a.x * b.x, s.y += a.y * b.y, s.z += a.z * b.z, s.w += a.w * b.w; }
extern "C" __global__ void depthwise(const float* __restrict__ in, const float* __restrict__ filter, float* __restrict__ out) {
  int c = (blockIdx.x * BX + threadIdx.x) * VEC, x0 = (blockIdx.y * BY + threadIdx.y) * PIXELS, y = blockIdx.z;
  word s[PIXELS] = {};
#pragma unroll
  for (int dy = -1; dy <= 1; ++dy) {
    if (y + dy < 0 || y + dy >= H) continue;
    word row[PIXELS + 2] = {};
#pragma unroll
    for (int k = 0; k < PIXELS + 2; ++k) {
      int x = x0 + k - 1;
      if (x >= 0 && x < W) row[k] = *(const word*)(in + ((size_t)(y + dy) * W + x) * C + c);
    }
#pragma unroll
    for (int dx = 0; dx < 3; ++dx) {
      word f = *(const word*)(filter + ((dy + 1) * 3 + dx) * C + c);
#pragma unroll
      for (int k = 0; k < PIXELS; ++k) fma_(s[k], row[k + dx], f);
    }
  }
#pragma unroll
  for (int k = 0; k < PIXELS; ++k) *(word*)(out + ((size_t)y * W + x0 + k) * C + c) = s[k];
}
