// One query a head against the keys of its group of four heads: a warp a key, KEYS in a row, the query in registers.
#define DIM 128
#if VEC == 1
typedef float word;
#elif VEC == 2
typedef float2 word;
#else
typedef float4 word;
#endif
extern "C" __global__ void decode_scores(const float* __restrict__ q, const float* __restrict__ key, float* __restrict__ out, int keys) {
  int head = blockIdx.x, lane = threadIdx.x, first = (blockIdx.y * WARPS + threadIdx.y) * KEYS;
  word mine[DIM / 32 / VEC];
#pragma unroll
  for (int j = 0; j < DIM / 32 / VEC; ++j) mine[j] = ((const word*)(q + head * DIM))[j * 32 + lane];
  const float* k = key + (size_t)(head / 4) * keys * DIM;
#pragma unroll
  for (int i = 0; i < KEYS; ++i) {
    if (first + i >= keys) return;
    float s = 0;
#pragma unroll
    for (int j = 0; j < DIM / 32 / VEC; ++j) {
      word v = ((const word*)(k + (size_t)(first + i) * DIM))[j * 32 + lane];
#pragma unroll
      for (int e = 0; e < VEC; ++e) s += ((const float*)&v)[e] * ((const float*)&mine[j])[e];
    }
#pragma unroll
    for (int d = 16; d; d >>= 1) s += __shfl_xor_sync(~0u, s, d);
    if (lane == 0) out[(size_t)head * keys + first + i] = s * 0.088388f;
  }
}
