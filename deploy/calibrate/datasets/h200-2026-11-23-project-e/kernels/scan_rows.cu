// Running sums along rows: TPR threads a row, each VEC words a step, the sum so far handed on.
#define NW (TPR / 32)
#if VEC == 1
typedef float word;
#elif VEC == 2
typedef float2 word;
#else
typedef float4 word;
#endif
extern "C" __global__ void scan_rows(const float* __restrict__ x, float* __restrict__ y, int cols) {
  size_t row = (size_t)(blockIdx.x * RPB + threadIdx.y) * cols;
  int t = threadIdx.x, lane = t & 31;
  float base = 0;
#if NW > 1
  __shared__ float part[2][RPB][NW];
  int flip = 0;
#endif
  for (int c = t * VEC; c < cols; c += TPR * VEC) {
    word v = *(const word*)(x + row + c);
    float* f = (float*)&v;
#pragma unroll
    for (int j = 1; j < VEC; ++j) f[j] += f[j - 1];
    float all = f[VEC - 1], s = all;
#pragma unroll
    for (int d = 1; d < 32; d <<= 1) {
      float u = __shfl_up_sync(~0u, s, d);
      if (lane >= d) s += u;
    }
    float before = s - all + base;
#if NW > 1
    if (lane == 31) part[flip][threadIdx.y][t / 32] = s;
    __syncthreads();
    float sum = 0;
#pragma unroll
    for (int w = 0; w < NW; ++w) {
      float p = part[flip][threadIdx.y][w];
      if (w < t / 32) before += p;
      sum += p;
    }
    base += sum;
    flip ^= 1;
#else
    base += __shfl_sync(~0u, s, 31);
#endif
#pragma unroll
    for (int j = 0; j < VEC; ++j) f[j] += before;
    *(word*)(y + row + c) = v;
  }
}
