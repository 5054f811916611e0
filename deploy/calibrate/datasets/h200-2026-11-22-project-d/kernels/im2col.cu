// Images to the columns of a convolution of 3x3 with a border of one: a thread ITEMS outputs, or all nine of ITEMS pixels (NINE), next to each other and stored together, or BLOCK apart
// (STRIDED); the sizes it divides by are constants (FIXED) or arguments.
#if FIXED
#define H 56
#define W 56
#else
#define H height
#define W width
#endif
#if STRIDED || ITEMS == 1
typedef float word;
#define WIDE 1
#elif ITEMS == 2
typedef float2 word;
#define WIDE 2
#else
typedef float4 word;
#define WIDE 4
#endif
#if STRIDED
#define APART BLOCK
#else
#define APART 1
#endif
extern "C" __global__ void im2col(const float* __restrict__ in, float* __restrict__ out, int planes, int height, int width) {
#if STRIDED
  int base = blockIdx.x * BLOCK * ITEMS + threadIdx.x;
#else
  int base = (blockIdx.x * BLOCK + threadIdx.x) * ITEMS;
#endif
#if NINE
  int total = planes * H * W;
#else
  int total = planes * 9 * H * W;
#endif
#pragma unroll
  for (int k = 0; k < ITEMS; k += WIDE) {
    int at = base + k * APART;
    if (at >= total) return;
    int pixel = at % (H * W), y0 = pixel / W - 1, x0 = pixel % W - 1;
#if NINE
    int plane = at / (H * W);
#pragma unroll
    for (int tap = 0; tap < 9; ++tap) {
#else
    int row = at / (H * W), plane = row / 9, tap = row % 9;
    {
#endif
      int y = y0 + tap / 3;
      word r;
#pragma unroll
      for (int j = 0; j < WIDE; ++j) {
        int x = x0 + tap % 3 + j;
        ((float*)&r)[j] = y >= 0 && y < H && x >= 0 && x < W ? in[(plane * H + y) * W + x] : 0;
      }
#if NINE
      *(word*)(out + (plane * 9 + tap) * (H * W) + pixel) = r;
#else
      *(word*)(out + at) = r;
#endif
    }
  }
}
