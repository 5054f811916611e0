// A sparse matrix by rows times a dense one of 64 columns, LANES threads a row, each of 64/LANES columns.
#define EACH (64 / LANES)
extern "C" __global__ void spmm_csr(const int* __restrict__ start, const int* __restrict__ column, const float* __restrict__ value, const float* __restrict__ dense, float* __restrict__ out, int rows) {
  int t = blockIdx.x * BLOCK + threadIdx.x, row = t / LANES, lane = t % LANES;
  if (row >= rows) return;
  float s[EACH];
#pragma unroll
  for (int c = 0; c < EACH; ++c) s[c] = 0;
  int end = start[row + 1];
#pragma unroll UNROLL
  for (int e = start[row]; e < end; ++e) {
    const float* d = dense + column[e] * 64;
    float v = value[e];
#if VEC
#pragma unroll
    for (int c = 0; c < EACH; c += 2) {
      float2 q = *(const float2*)(d + c * LANES + 2 * lane);
      s[c] += v * q.x, s[c + 1] += v * q.y;
    }
#else
#pragma unroll
    for (int c = 0; c < EACH; ++c) s[c] += v * d[c * LANES + lane];
#endif
  }
#if VEC
#pragma unroll
  for (int c = 0; c < EACH; c += 2) *(float2*)(out + row * 64 + c * LANES + 2 * lane) = make_float2(s[c], s[c + 1]);
#else
#pragma unroll
  for (int c = 0; c < EACH; ++c) out[row * 64 + c * LANES + lane] = s[c];
#endif
}
