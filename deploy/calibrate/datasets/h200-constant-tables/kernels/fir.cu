// FIR of 512 taps in constant memory over a stream in shared memory: PER outputs a thread.
#define TAPS 512
__constant__ float taps[TAPS];
extern "C" __global__ void fir(const float* __restrict__ in, float* __restrict__ out, int n) {
  __shared__ float t[BLOCK * PER + TAPS];
  int from = blockIdx.x * (BLOCK * PER);
  for (int k = threadIdx.x; k < BLOCK * PER + TAPS; k += BLOCK) t[k] = in[from + k];
  __syncthreads();
  float s[PER];
#pragma unroll
  for (int j = 0; j < PER; ++j) s[j] = 0;
#if UNROLL == 4
#pragma unroll 4
#else
#pragma unroll 1
#endif
  for (int k = 0; k < TAPS; ++k) {
    float c = taps[k];
#pragma unroll
    for (int j = 0; j < PER; ++j) s[j] += c * t[threadIdx.x + j * BLOCK + k];
  }
#pragma unroll
  for (int j = 0; j < PER; ++j) out[from + threadIdx.x + j * BLOCK] = s[j];
}
