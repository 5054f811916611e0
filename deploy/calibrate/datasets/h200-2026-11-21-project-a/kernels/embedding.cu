// Rows of a table gathered by index: TPR threads a row of 64 floats, VEC at a time.
extern "C" __global__ void embedding(const int* __restrict__ index, const float* __restrict__ table, float* __restrict__ out, int n) {
  int t = blockIdx.x * BLOCK + threadIdx.x, row = t / TPR, lane = t % TPR;
  if (row >= n) return;
  size_t from = (size_t)index[row] * 64, to = (size_t)row * 64;
#if VEC == 4
#pragma unroll
  for (int c = lane * 4; c < 64; c += TPR * 4) *(float4*)(out + to + c) = *(const float4*)(table + from + c);
#else
#pragma unroll
  for (int c = lane; c < 64; c += TPR) out[to + c] = table[from + c];
#endif
}
