// The second pass of an integral image: running sums down the columns, VEC columns a thread, the rows in BY segments whose sums meet in shared memory.
#if VEC == 1
typedef unsigned word;
#elif VEC == 2
typedef uint2 word;
#else
typedef uint4 word;
#endif
extern "C" __global__ void integral_columns(const unsigned* __restrict__ in, unsigned* __restrict__ out, int width, int height) {
  __shared__ unsigned sums[BY][BX * VEC];
  int x = (blockIdx.x * BX + threadIdx.x) * VEC;
  int rows = (height + BY - 1) / BY, first = threadIdx.y * rows, last = min(first + rows, height);
  unsigned s[VEC];
#pragma unroll
  for (int c = 0; c < VEC; ++c) s[c] = 0;
#if BY > 1
  if (x < width) {
#pragma unroll UNROLL
    for (int y = first; y < last; ++y) {
      word w = *(const word*)(in + y * width + x);
#pragma unroll
      for (int c = 0; c < VEC; ++c) s[c] += ((const unsigned*)&w)[c];
    }
  }
#pragma unroll
  for (int c = 0; c < VEC; ++c) sums[threadIdx.y][c * BX + threadIdx.x] = s[c], s[c] = 0;
  __syncthreads();
  for (int k = 0; k < threadIdx.y; ++k)
#pragma unroll
    for (int c = 0; c < VEC; ++c) s[c] += sums[k][c * BX + threadIdx.x];
#endif
  if (x >= width) return;
#pragma unroll UNROLL
  for (int y = first; y < last; ++y) {
    word w = *(const word*)(in + y * width + x);
#pragma unroll
    for (int c = 0; c < VEC; ++c) ((unsigned*)&w)[c] = s[c] += ((const unsigned*)&w)[c];
    *(word*)(out + y * width + x) = w;
  }
}
