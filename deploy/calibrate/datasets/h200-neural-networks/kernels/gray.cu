// Luminance of bytes, PX pixels a thread, colours beside each other or in planes.
extern "C" __global__ void gray(const unsigned char* __restrict__ rgb, unsigned char* __restrict__ out, int n) {
  int i = (blockIdx.x * BLOCK + threadIdx.x) * PX;
  if (i >= n) return;
#if PX == 1
  float r = PLANAR ? rgb[i] : rgb[3 * i], g = PLANAR ? rgb[n + i] : rgb[3 * i + 1], b = PLANAR ? rgb[2 * n + i] : rgb[3 * i + 2];
  out[i] = (unsigned char)(0.299f * r + 0.587f * g + 0.114f * b + 0.5f);
#else
  union { unsigned u[3 * PX / 4]; unsigned char c[3 * PX]; } in;
  union { unsigned u[PX / 4]; unsigned char c[PX]; } o;
#if PLANAR
#pragma unroll
  for (int p = 0; p < 3; ++p)
#pragma unroll
    for (int k = 0; k < PX / 4; ++k) in.u[p * PX / 4 + k] = *(const unsigned*)(rgb + (size_t)p * n + i + 4 * k);
#else
#pragma unroll
  for (int k = 0; k < 3 * PX / 4; ++k) in.u[k] = ((const unsigned*)(rgb + 3 * (size_t)i))[k];
#endif
#pragma unroll
  for (int k = 0; k < PX; ++k) {
    float r = PLANAR ? in.c[k] : in.c[3 * k], g = PLANAR ? in.c[PX + k] : in.c[3 * k + 1], b = PLANAR ? in.c[2 * PX + k] : in.c[3 * k + 2];
    o.c[k] = (unsigned char)(0.299f * r + 0.587f * g + 0.114f * b + 0.5f);
  }
#pragma unroll
  for (int k = 0; k < PX / 4; ++k) ((unsigned*)(out + i))[k] = o.u[k];
#endif
}
