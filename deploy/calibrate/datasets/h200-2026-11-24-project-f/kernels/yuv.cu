// Brightness and colour differences of pixels of four bytes, PIXELS a thread, into planes of bytes.
extern "C" __global__ void yuv(const unsigned* __restrict__ rgba, unsigned char* __restrict__ luma, unsigned char* __restrict__ cb, unsigned char* __restrict__ cr, int n) {
#if PACKED
  int i = (blockIdx.x * BLOCK + threadIdx.x) * PIXELS;
  if (i >= n) return;
  unsigned wy = 0, wb = 0, wr = 0;
#pragma unroll
  for (int k = 0; k < PIXELS; ++k) {
    unsigned p = rgba[i + k];
    int r = p & 255, g = p >> 8 & 255, b = p >> 16 & 255;
    wy |= (unsigned)((77 * r + 150 * g + 29 * b) >> 8) << 8 * k;
    wb |= (unsigned)((-43 * r - 85 * g + 128 * b + 32768) >> 8 & 255) << 8 * k;
    wr |= (unsigned)((128 * r - 107 * g - 21 * b + 32768) >> 8 & 255) << 8 * k;
  }
#if PIXELS == 4
  ((unsigned*)luma)[i / 4] = wy, ((unsigned*)cb)[i / 4] = wb, ((unsigned*)cr)[i / 4] = wr;
#elif PIXELS == 2
  ((unsigned short*)luma)[i / 2] = wy, ((unsigned short*)cb)[i / 2] = wb, ((unsigned short*)cr)[i / 2] = wr;
#else
  luma[i] = wy, cb[i] = wb, cr[i] = wr;
#endif
#else
  int i = blockIdx.x * BLOCK * PIXELS + threadIdx.x;
#pragma unroll
  for (int k = 0; k < PIXELS; ++k, i += BLOCK) {
    if (i >= n) return;
    unsigned p = rgba[i];
    float r = p & 255, g = p >> 8 & 255, b = p >> 16 & 255;
    luma[i] = (unsigned char)(0.299f * r + 0.587f * g + 0.114f * b);
    cb[i] = (unsigned char)(-0.169f * r - 0.331f * g + 0.5f * b + 128);
    cr[i] = (unsigned char)(0.5f * r - 0.419f * g - 0.081f * b + 128);
  }
#endif
}
