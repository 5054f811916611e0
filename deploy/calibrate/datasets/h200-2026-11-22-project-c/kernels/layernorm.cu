// Normalised rows with gain and offset: a block a row, which CACHE keeps in shared memory between the passes.
extern "C" __global__ void layernorm(const float* __restrict__ x, const float* __restrict__ gain, const float* __restrict__ offset, float* __restrict__ y) {
  __shared__ float part[2][BLOCK / 32];
#if CACHE
  __shared__ __align__(16) float row[COLS];
#endif
  const float* r = x + (size_t)blockIdx.x * COLS;
  float s = 0, q = 0;
#if VEC == 4
  for (int c = threadIdx.x * 4; c < COLS; c += BLOCK * 4) {
    float4 v = *(const float4*)(r + c);
#if CACHE
    *(float4*)(row + c) = v;
#endif
    s += v.x + v.y + v.z + v.w;
    q += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
  }
#else
  for (int c = threadIdx.x; c < COLS; c += BLOCK) {
    float v = r[c];
#if CACHE
    row[c] = v;
#endif
    s += v;
    q += v * v;
  }
#endif
  for (int d = 16; d; d >>= 1) {
    s += __shfl_xor_sync(~0u, s, d);
    q += __shfl_xor_sync(~0u, q, d);
  }
  if (threadIdx.x % 32 == 0) part[0][threadIdx.x / 32] = s, part[1][threadIdx.x / 32] = q;
  __syncthreads();
  s = q = 0;
  for (int w = 0; w < BLOCK / 32; ++w) s += part[0][w], q += part[1][w];
  float mean = s / COLS, scale = rsqrtf(q / COLS - mean * mean + 1e-5f);
#if CACHE
  const float* from = row;
#else
  const float* from = r;
#endif
  float* o = y + (size_t)blockIdx.x * COLS;
#if VEC == 4
  for (int c = threadIdx.x * 4; c < COLS; c += BLOCK * 4) {
    float4 v = *(const float4*)(from + c), g = *(const float4*)(gain + c), b = *(const float4*)(offset + c);
    v.x = (v.x - mean) * scale * g.x + b.x;
    v.y = (v.y - mean) * scale * g.y + b.y;
    v.z = (v.z - mean) * scale * g.z + b.z;
    v.w = (v.w - mean) * scale * g.w + b.w;
    *(float4*)(o + c) = v;
  }
#else
  for (int c = threadIdx.x; c < COLS; c += BLOCK) o[c] = (from[c] - mean) * scale * gain[c] + offset[c];
#endif
}
