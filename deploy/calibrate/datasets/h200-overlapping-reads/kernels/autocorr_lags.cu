// Autocorrelation at LAGS lags of a long signal: a block takes a stretch of it and some lags, a thread a lag or several.
extern "C" __global__ void autocorr_lags(const float* __restrict__ x, float* __restrict__ r, int n, int lags, int stretch) {
  int first = (blockIdx.x * BLOCK + threadIdx.x) * (APART ? 1 : EACH), step = APART ? BLOCK * gridDim.x : 1;
  int begin = blockIdx.y * stretch, end = min(begin + stretch, n - lags);
  float sum[EACH] = {};
#pragma unroll UNROLL
  for (int i = begin; i < end; ++i) {
    float v = x[i];
#pragma unroll
    for (int e = 0; e < EACH; ++e) sum[e] += v * x[i + first + e * step];
  }
#pragma unroll
  for (int e = 0; e < EACH; ++e)
    if (first + e * step < lags) atomicAdd(r + first + e * step, sum[e]);
}
