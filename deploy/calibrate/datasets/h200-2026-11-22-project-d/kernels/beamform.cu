// Beams as weighted sums over 128 antennas, in complex numbers: TB beams by TS samples a thread, BX by BY threads; the block's weights in shared memory, 32 antennas at a time (SHARED),
// or read by all lanes alike.
#define ANTENNAS 128
#define CHUNK 32
extern "C" __global__ void beamform(const float2* __restrict__ weight, const float2* __restrict__ sample, float2* __restrict__ out, int samples) {
  int t0 = blockIdx.x * BX * TS + threadIdx.x, beam = (blockIdx.y * BY + threadIdx.y) * TB;
  const float2* from[TS];
#pragma unroll
  for (int j = 0; j < TS; ++j) from[j] = sample + min(t0 + j * BX, samples - 1);
  float2 s[TB][TS];
#pragma unroll
  for (int i = 0; i < TB; ++i)
#pragma unroll
    for (int j = 0; j < TS; ++j) s[i][j] = make_float2(0, 0);
#if SHARED
  __shared__ float2 w[CHUNK][BY * TB];
  for (int a0 = 0; a0 < ANTENNAS; a0 += CHUNK) {
    __syncthreads();
    for (int i = threadIdx.y * BX + threadIdx.x; i < CHUNK * BY * TB; i += BX * BY)
      w[i % CHUNK][i / CHUNK] = weight[(blockIdx.y * BY * TB + i / CHUNK) * ANTENNAS + a0 + i % CHUNK];
    __syncthreads();
#else
  {
    const int a0 = 0;
#endif
#pragma unroll 4
    for (int a = 0; a < (SHARED ? CHUNK : ANTENNAS); ++a) {
      float2 v[TS];
#pragma unroll
      for (int j = 0; j < TS; ++j) v[j] = from[j][(size_t)(a0 + a) * samples];
#pragma unroll
      for (int i = 0; i < TB; ++i) {
#if SHARED
        float2 c = w[a][threadIdx.y * TB + i];
#else
        float2 c = weight[(beam + i) * ANTENNAS + a];
#endif
#pragma unroll
        for (int j = 0; j < TS; ++j) {
          s[i][j].x += c.x * v[j].x - c.y * v[j].y;
          s[i][j].y += c.x * v[j].y + c.y * v[j].x;
        }
      }
    }
  }
#pragma unroll
  for (int i = 0; i < TB; ++i)
#pragma unroll
    for (int j = 0; j < TS; ++j)
      if (t0 + j * BX < samples) out[(size_t)(beam + i) * samples + t0 + j * BX] = s[i][j];
}
