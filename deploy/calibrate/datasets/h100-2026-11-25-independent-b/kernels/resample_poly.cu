// Channels of samples from 44.1 to 48 kHz by 160 phases of a filter with 32 taps each: PER results a thread, a block's width apart or (PHASE) 160 apart, whose coefficients are the same; coefficients from global, shared or constant memory (TABLE), by phase or by tap (TURNED), padded (PAD).
#define UP 160
#define DOWN 147
#define LENGTH 32
#if TURNED
#define AT(phase, k) ((k) * UP + (phase))
#else
#define AT(phase, k) ((phase) * (LENGTH + PAD) + (k))
#endif
__constant__ float fixed[UP * LENGTH];
extern "C" __global__ void __launch_bounds__(BLOCK) resample_poly(const float* __restrict__ in, const float* __restrict__ coefficient, float* __restrict__ out, int inputs, int outputs) {
#if TABLE == 0
  const float* __restrict__ h = coefficient;
#elif TABLE == 1
  __shared__ float h[UP * (LENGTH + PAD)];
  for (int k = threadIdx.x; k < UP * LENGTH; k += BLOCK) h[TURNED ? k : k / LENGTH * (LENGTH + PAD) + k % LENGTH] = coefficient[k];
  __syncthreads();
#else
#define h fixed
#endif
  const float* x = in + (size_t)blockIdx.y * inputs;
  float* y = out + (size_t)blockIdx.y * outputs;
#if PHASE
  int g = blockIdx.x * BLOCK + threadIdx.x, m0 = g / UP * (PER * UP) + g % UP, phase = m0 % UP * DOWN % UP;
  float sum[PER];
#pragma unroll
  for (int p = 0; p < PER; ++p) sum[p] = 0.0f;
  // Places 160 results apart are 147 samples apart.
  int from = m0 * DOWN / UP, most = inputs - LENGTH;
#pragma unroll 8
  for (int k = 0; k < LENGTH; ++k) {
    float c = h[AT(phase, k)];
#pragma unroll
    for (int p = 0; p < PER; ++p) sum[p] += c * x[min(from + p * DOWN, most) + k];
  }
#pragma unroll
  for (int p = 0; p < PER; ++p)
    if (m0 + p * UP < outputs) y[m0 + p * UP] = sum[p];
#else
#pragma unroll
  for (int p = 0; p < PER; ++p) {
    int m = (blockIdx.x * PER + p) * BLOCK + threadIdx.x;
    if (m >= outputs) return;
    int phase = m % UP * DOWN % UP, from = m * DOWN / UP;
    float s = 0.0f;
#pragma unroll 8
    for (int k = 0; k < LENGTH; ++k) s += h[AT(phase, k)] * x[from + k];
    y[m] = s;
  }
#endif
}
