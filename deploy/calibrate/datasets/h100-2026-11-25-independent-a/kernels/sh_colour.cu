// Colours of points seen from a camera by spherical harmonics of degree three, 16 coefficients of three channels a point: read one by one (LAYOUT 0), four by four (1), by coefficient with points side by side (2), or through shared memory (3).
#define STEP (LAYOUT == 3 ? 49 : 48)
extern "C" __global__ void sh_colour(const float* __restrict__ position, const float* __restrict__ sh, float* __restrict__ colour, int n, float cx, float cy, float cz) {
#if LAYOUT == 3
  __shared__ float tile[BLOCK][49];
#endif
#pragma unroll 1
  for (int e = 0; e < EACH; ++e) {
    int base = (blockIdx.x * EACH + e) * BLOCK, i = base + threadIdx.x;
#if LAYOUT == 3
    if (e) __syncthreads();
    int most = min(BLOCK, n - base) * 48;
#pragma unroll 8
    for (int k = threadIdx.x; k < most; k += BLOCK) tile[k / 48][k % 48] = sh[(size_t)base * 48 + k];
    __syncthreads();
#endif
    if (i < n) {
      float c[48];
#if LAYOUT == 1
#pragma unroll
      for (int k = 0; k < 12; ++k) {
        float4 q = ((const float4*)sh)[(size_t)i * 12 + k];
        c[4 * k] = q.x, c[4 * k + 1] = q.y, c[4 * k + 2] = q.z, c[4 * k + 3] = q.w;
      }
#else
#pragma unroll
      for (int k = 0; k < 48; ++k)
#if LAYOUT == 0
        c[k] = sh[(size_t)i * 48 + k];
#elif LAYOUT == 2
        c[k] = sh[(size_t)k * n + i];
#else
        c[k] = tile[threadIdx.x][k];
#endif
#endif
      float x = position[3 * i] - cx, y = position[3 * i + 1] - cy, z = position[3 * i + 2] - cz;
#if FAST
      float inv = rsqrtf(x * x + y * y + z * z);
#else
      float inv = 1.0f / sqrtf(x * x + y * y + z * z);
#endif
      x *= inv, y *= inv, z *= inv;
      float xx = x * x, yy = y * y, zz = z * z, xy = x * y, yz = y * z, xz = x * z, b[16];
      b[0] = 0.28209479f, b[1] = -0.48860251f * y, b[2] = 0.48860251f * z, b[3] = -0.48860251f * x;
      b[4] = 1.0925484f * xy, b[5] = -1.0925484f * yz, b[6] = 0.31539157f * (2.0f * zz - xx - yy), b[7] = -1.0925484f * xz, b[8] = 0.54627421f * (xx - yy);
      b[9] = -0.59004359f * y * (3.0f * xx - yy), b[10] = 2.8906114f * xy * z, b[11] = -0.45704579f * y * (4.0f * zz - xx - yy), b[12] = 0.37317633f * z * (2.0f * zz - 3.0f * xx - 3.0f * yy);
      b[13] = -0.45704579f * x * (4.0f * zz - xx - yy), b[14] = 1.4453057f * z * (xx - yy), b[15] = -0.59004359f * x * (xx - 3.0f * yy);
#pragma unroll
      for (int k = 0; k < 3; ++k) {
        float s = 0.5f;
#pragma unroll
        for (int m = 0; m < 16; ++m) s += b[m] * c[3 * m + k];
        colour[3 * i + k] = fmaxf(s, 0.0f);
      }
    }
  }
}
