// Walsh-Hadamard transform of rows of 4096 in shared memory, a block a row: passes over RADIX numbers a thread; with FUSED the first pass comes from global memory and
// the last one goes there. PAD leaves a word free after every 32.
#define N 4096
#define LOG (RADIX == 2 ? 1 : RADIX == 4 ? 2 : RADIX == 8 ? 3 : 4)
#define AT(i) ((i) + PAD * ((i) / 32))
__device__ __forceinline__ void butterfly(float (&v)[RADIX]) {
#pragma unroll
  for (int h = 1; h < RADIX; h *= 2)
#pragma unroll
    for (int k = 0; k < RADIX; ++k)
      if ((k & h) == 0) {
        float a = v[k], b = v[k + h];
        v[k] = a + b;
        v[k + h] = a - b;
      }
}
extern "C" __global__ void walsh(const float* __restrict__ in, float* __restrict__ out) {
  __shared__ float s[AT(N)];
  const float* from = in + (size_t)blockIdx.x * N;
  float* to = out + (size_t)blockIdx.x * N;
  const float scale = 1.0f / 64;
#if FUSED
  const int end = 12 - 2 * LOG;
#pragma unroll UNROLL
  for (int t = threadIdx.x; t < N / RADIX; t += BLOCK) {
    float v[RADIX];
#pragma unroll
    for (int k = 0; k < RADIX; ++k) v[k] = from[t + k * (N / RADIX)];
    butterfly(v);
#pragma unroll
    for (int k = 0; k < RADIX; ++k) s[AT(t + k * (N / RADIX))] = v[k];
  }
#else
  const int end = 12;
#pragma unroll UNROLL
  for (int i = threadIdx.x * 4; i < N; i += BLOCK * 4) {
    float4 v = *(const float4*)(from + i);
    s[AT(i)] = v.x, s[AT(i) + 1] = v.y, s[AT(i) + 2] = v.z, s[AT(i) + 3] = v.w;
  }
#endif
  __syncthreads();
#pragma unroll
  for (int log = 0; log < end; log += LOG) {
#pragma unroll UNROLL
    for (int t = threadIdx.x; t < N / RADIX; t += BLOCK) {
      int base = (t >> log << (log + LOG)) + (t & ((1 << log) - 1));
      float v[RADIX];
#pragma unroll
      for (int k = 0; k < RADIX; ++k) v[k] = s[AT(base + (k << log))];
      butterfly(v);
#pragma unroll
      for (int k = 0; k < RADIX; ++k) s[AT(base + (k << log))] = v[k];
    }
    __syncthreads();
  }
#if FUSED
#pragma unroll UNROLL
  for (int t = threadIdx.x; t < N / RADIX; t += BLOCK) {
    int base = (t >> end << (end + LOG)) + (t & ((1 << end) - 1));
    float v[RADIX];
#pragma unroll
    for (int k = 0; k < RADIX; ++k) v[k] = s[AT(base + (k << end))];
    butterfly(v);
#pragma unroll
    for (int k = 0; k < RADIX; ++k) to[base + (k << end)] = v[k] * scale;
  }
#else
#pragma unroll UNROLL
  for (int i = threadIdx.x * 4; i < N; i += BLOCK * 4) *(float4*)(to + i) = make_float4(s[AT(i)] * scale, s[AT(i) + 1] * scale, s[AT(i) + 2] * scale, s[AT(i) + 3] * scale);
#endif
}
