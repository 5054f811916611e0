// q = A p and s = A^T r in one pass over A: a block HEIGHT rows of BLOCK*VEC columns; sums of rows go to global memory by an atomic a warp, or are added in shared memory
// first (TOGETHER), those of columns by an atomic a thread and column.
struct alignas(4 * VEC) word { float v[VEC]; };
extern "C" __global__ void bicg(const word* __restrict__ a, const word* __restrict__ p, const float* __restrict__ r, float* __restrict__ q, float* __restrict__ s, int cols) {
#if TOGETHER
  __shared__ float part[HEIGHT];
  for (int i = threadIdx.x; i < HEIGHT; i += BLOCK) part[i] = 0;
  __syncthreads();
#endif
  int c = blockIdx.x * BLOCK + threadIdx.x, y0 = blockIdx.y * HEIGHT;
  word mine = p[c];
  float sum[VEC];
#pragma unroll
  for (int i = 0; i < VEC; ++i) sum[i] = 0;
#pragma unroll UNROLL
  for (int y = 0; y < HEIGHT; ++y) {
    word x = a[(size_t)(y0 + y) * (cols / VEC) + c];
    float f = r[y0 + y], dot = 0;
#pragma unroll
    for (int i = 0; i < VEC; ++i) {
      dot += x.v[i] * mine.v[i];
      sum[i] += x.v[i] * f;
    }
#pragma unroll
    for (int d = 16; d; d >>= 1) dot += __shfl_xor_sync(~0u, dot, d);
#if TOGETHER
    if (threadIdx.x % 32 == 0) atomicAdd(&part[y], dot);
#else
    if (threadIdx.x % 32 == 0) atomicAdd(&q[y0 + y], dot);
#endif
  }
#if TOGETHER
  __syncthreads();
  for (int i = threadIdx.x; i < HEIGHT; i += BLOCK) atomicAdd(&q[y0 + i], part[i]);
#endif
#pragma unroll
  for (int i = 0; i < VEC; ++i) atomicAdd(&s[(size_t)c * VEC + i], sum[i]);
}
