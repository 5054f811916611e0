// Row-wise softmax: a block takes a row, each thread VEC neighbouring columns a step; three passes over the row.
extern "C" __global__ void softmax_rows(const float* __restrict__ x, float* __restrict__ y, int rows, int cols) {
  __shared__ float part[BLOCK / 32];
  const float* r = x + (size_t)blockIdx.x * cols;
  float* o = y + (size_t)blockIdx.x * cols;
  float m = -1e30f;
  for (int c = threadIdx.x * VEC; c < cols; c += BLOCK * VEC)
#pragma unroll
    for (int v = 0; v < VEC; ++v) m = fmaxf(m, r[c + v]);
  for (int d = 16; d; d >>= 1) m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, d));
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = m;
  __syncthreads();
  m = part[0];
#pragma unroll
  for (int w = 1; w < BLOCK / 32; ++w) m = fmaxf(m, part[w]);
  __syncthreads();
  float s = 0;
  for (int c = threadIdx.x * VEC; c < cols; c += BLOCK * VEC)
#pragma unroll
    for (int v = 0; v < VEC; ++v) s += __expf(r[c + v] - m);
  for (int d = 16; d; d >>= 1) s += __shfl_xor_sync(0xffffffffu, s, d);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = s;
  __syncthreads();
  s = 0;
#pragma unroll
  for (int w = 0; w < BLOCK / 32; ++w) s += part[w];
  float inv = 1.0f / s;
  for (int c = threadIdx.x * VEC; c < cols; c += BLOCK * VEC)
#pragma unroll
    for (int v = 0; v < VEC; ++v) o[c + v] = __expf(r[c + v] - m) * inv;
}
