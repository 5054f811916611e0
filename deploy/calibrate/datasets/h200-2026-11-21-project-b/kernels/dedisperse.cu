// Sums over 384 frequency channels of bytes, each shifted by a delay that grows with the dispersion measure: TS samples by TD measures a thread.
#define CHANNELS 384
__constant__ float shifts[CHANNELS];
extern "C" __global__ void dedisperse(const unsigned char* __restrict__ in, float* __restrict__ out, int samples, int pitch) {
  int t = blockIdx.x * (BX * TS) + threadIdx.x, dm = (blockIdx.y * BY + threadIdx.y) * TD;
  float s[TD][TS];
#pragma unroll
  for (int d = 0; d < TD; ++d)
#pragma unroll
    for (int i = 0; i < TS; ++i) s[d][i] = 0;
#pragma unroll UNROLL
  for (int c = 0; c < CHANNELS; ++c)
#pragma unroll
    for (int d = 0; d < TD; ++d) {
      int from = (int)((dm + d) * shifts[c]) + c * pitch + t;
#pragma unroll
      for (int i = 0; i < TS; ++i) s[d][i] += in[from + i * BX];
    }
#pragma unroll
  for (int d = 0; d < TD; ++d)
#pragma unroll
    for (int i = 0; i < TS; ++i)
      if (t + i * BX < samples) out[(size_t)(dm + d) * samples + t + i * BX] = s[d][i];
}
