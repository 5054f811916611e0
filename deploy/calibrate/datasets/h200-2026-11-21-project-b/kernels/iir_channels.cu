// Two recursive sections over 512 samples, side by side in channels: CH channels a thread.
extern "C" __global__ void iir_channels(const float* __restrict__ in, float* __restrict__ out, int channels, int samples, float b0, float b1, float b2, float a1, float a2) {
  int c = (blockIdx.x * BLOCK + threadIdx.x) * CH;
  float u[CH], v[CH], p[CH], q[CH];
#pragma unroll
  for (int k = 0; k < CH; ++k) u[k] = v[k] = p[k] = q[k] = 0;
#pragma unroll UNROLL
  for (int t = 0; t < samples; ++t) {
    float x[CH];
#if CH == 4
    *(float4*)x = *(const float4*)(in + (size_t)t * channels + c);
#elif CH == 2
    *(float2*)x = *(const float2*)(in + (size_t)t * channels + c);
#else
    x[0] = in[(size_t)t * channels + c];
#endif
#pragma unroll
    for (int k = 0; k < CH; ++k) {
      float y = b0 * x[k] + u[k];
      u[k] = b1 * x[k] - a1 * y + v[k];
      v[k] = b2 * x[k] - a2 * y;
      x[k] = b0 * y + p[k];
      p[k] = b1 * y - a1 * x[k] + q[k];
      q[k] = b2 * y - a2 * x[k];
    }
#if CH == 4
    *(float4*)(out + (size_t)t * channels + c) = *(float4*)x;
#elif CH == 2
    *(float2*)(out + (size_t)t * channels + c) = *(float2*)x;
#else
    out[(size_t)t * channels + c] = x[0];
#endif
  }
}
