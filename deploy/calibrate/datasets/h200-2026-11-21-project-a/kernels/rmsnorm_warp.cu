// Root-mean-square norm: a warp a row of COLS values kept in registers, VEC at a time.
#define COLS 1024
#define PER (COLS / 32 / VEC)
extern "C" __global__ void rmsnorm_warp(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ y, int rows) {
  int row = blockIdx.x * WARPS + threadIdx.y, lane = threadIdx.x;
  if (row >= rows) return;
  float v[PER][VEC], s = 0;
#pragma unroll
  for (int k = 0; k < PER; ++k) {
#if VEC == 4
    float4 p = *(const float4*)(x + (size_t)row * COLS + (k * 32 + lane) * 4);
    v[k][0] = p.x; v[k][1] = p.y; v[k][2] = p.z; v[k][3] = p.w;
#else
    v[k][0] = x[(size_t)row * COLS + k * 32 + lane];
#endif
#pragma unroll
    for (int q = 0; q < VEC; ++q) s += v[k][q] * v[k][q];
  }
  for (int d = 16; d; d >>= 1) s += __shfl_xor_sync(0xffffffffu, s, d);
  float r = rsqrtf(s / COLS + 1e-5f);
#pragma unroll
  for (int k = 0; k < PER; ++k) {
#if VEC == 4
    int c = (k * 32 + lane) * 4;
    float4 g = *(const float4*)(w + c);
    *(float4*)(y + (size_t)row * COLS + c) = make_float4(v[k][0] * r * g.x, v[k][1] * r * g.y, v[k][2] * r * g.z, v[k][3] * r * g.w);
#else
    int c = k * 32 + lane;
    y[(size_t)row * COLS + c] = v[k][0] * r * w[c];
#endif
  }
}
