// Cosine transforms of 8x8 pixels: eight threads a block of pixels, first its rows, then its columns; TILES of them a CTA.
__device__ __forceinline__ void dct8(float* v) {
  const float c1 = 0.49039264f, c2 = 0.46193977f, c3 = 0.41573481f, c4 = 0.35355339f, c5 = 0.27778512f, c6 = 0.19134172f, c7 = 0.09754516f;
  float a0 = v[0] + v[7], a1 = v[1] + v[6], a2 = v[2] + v[5], a3 = v[3] + v[4];
  float s0 = v[0] - v[7], s1 = v[1] - v[6], s2 = v[2] - v[5], s3 = v[3] - v[4];
  float b0 = a0 + a3, b1 = a1 + a2, d0 = a0 - a3, d1 = a1 - a2;
  v[0] = c4 * (b0 + b1); v[4] = c4 * (b0 - b1);
  v[2] = c2 * d0 + c6 * d1; v[6] = c6 * d0 - c2 * d1;
  v[1] = c1 * s0 + c3 * s1 + c5 * s2 + c7 * s3;
  v[3] = c3 * s0 - c7 * s1 - c1 * s2 - c5 * s3;
  v[5] = c5 * s0 - c1 * s1 + c7 * s2 + c3 * s3;
  v[7] = c7 * s0 - c5 * s1 + c3 * s2 - c1 * s3;
}
extern "C" __global__ void dct8x8(const float* __restrict__ in, float* __restrict__ out, int w) {
  __shared__ float s[TILES][8][8 + PAD];
  int r = threadIdx.x, b = threadIdx.y, tile = blockIdx.x * TILES + b, across = w / 8;
  size_t at = (size_t)(tile / across) * 8 * w + tile % across * 8;
  float v[8];
#if VEC
  *(float4*)v = *(const float4*)(in + at + (size_t)r * w);
  *(float4*)(v + 4) = *(const float4*)(in + at + (size_t)r * w + 4);
#else
#pragma unroll
  for (int k = 0; k < 8; ++k) s[b][k][r] = in[at + (size_t)k * w + r];
  __syncwarp();
#pragma unroll
  for (int k = 0; k < 8; ++k) v[k] = s[b][r][k];
  __syncwarp();
#endif
  dct8(v);
#pragma unroll
  for (int k = 0; k < 8; ++k) s[b][r][k] = v[k];
  __syncwarp();
#pragma unroll
  for (int k = 0; k < 8; ++k) v[k] = s[b][k][r];
  dct8(v);
#pragma unroll
  for (int k = 0; k < 8; ++k) out[at + (size_t)k * w + r] = v[k];
}
