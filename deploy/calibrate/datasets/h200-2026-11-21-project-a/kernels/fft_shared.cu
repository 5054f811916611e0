// Radix-2 transforms of N points in shared memory, one a block.
extern "C" __global__ void fft_shared(const float2* __restrict__ in, float2* __restrict__ out) {
  __shared__ float re[N + PAD * N / 32], im[N + PAD * N / 32];
#define AT(i) ((i) + PAD * ((i) / 32))
  size_t base = (size_t)blockIdx.x * N;
  for (int i = threadIdx.x; i < N; i += BLOCK) {
    float2 v = in[base + i];
    int j = __brev(i) >> (32 - LOG);
    re[AT(j)] = v.x; im[AT(j)] = v.y;
  }
  for (int s = 1; s < N; s <<= 1) {
    __syncthreads();
    for (int t = threadIdx.x; t < N / 2; t += BLOCK) {
      int k = t & (s - 1), i = 2 * t - k, j = i + s;
      float sn, cs;
      __sincosf(-3.14159265f * k / s, &sn, &cs);
      float xr = re[AT(j)] * cs - im[AT(j)] * sn, xi = re[AT(j)] * sn + im[AT(j)] * cs;
      re[AT(j)] = re[AT(i)] - xr; im[AT(j)] = im[AT(i)] - xi;
      re[AT(i)] += xr; im[AT(i)] += xi;
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < N; i += BLOCK) out[base + i] = make_float2(re[AT(i)], im[AT(i)]);
}
