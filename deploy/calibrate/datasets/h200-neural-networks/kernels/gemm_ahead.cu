// Matrix product by tiles of shared memory, A's transposed; the next tile's words wait in registers while this one is multiplied (AHEAD), in one of two buffers.
#define NX (BN / TN)
#define NY (BM / TM)
#define THREADS (NX * NY)
#define LA (BM * BK / (THREADS * 4))
#define LB (BN * BK / (THREADS * 4))
extern "C" __global__ void gemm_ahead(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int M, int N, int Kd) {
  __shared__ __align__(16) float as[1 + AHEAD][BK][BM + 4], bs[1 + AHEAD][BK][BN];
  int tx = threadIdx.x, ty = threadIdx.y, t = ty * NX + tx;
  const float* a = A + (size_t)blockIdx.y * BM * Kd;
  const float* b = B + blockIdx.x * BN;
  float4 ra[LA], rb[LB];
  float c[TM][TN] = {};
  auto load = [&](int k0) {
#pragma unroll
    for (int i = 0; i < LA; ++i) { int e = t + i * THREADS; ra[i] = *(const float4*)(a + (size_t)(e / (BK / 4)) * Kd + k0 + e % (BK / 4) * 4); }
#pragma unroll
    for (int i = 0; i < LB; ++i) { int e = t + i * THREADS; rb[i] = *(const float4*)(b + (size_t)(k0 + e / (BN / 4)) * N + e % (BN / 4) * 4); }
  };
  auto put = [&](int s) {
#pragma unroll
    for (int i = 0; i < LA; ++i) { int e = t + i * THREADS, r = e / (BK / 4), q = e % (BK / 4) * 4;
      as[s][q][r] = ra[i].x; as[s][q + 1][r] = ra[i].y; as[s][q + 2][r] = ra[i].z; as[s][q + 3][r] = ra[i].w; }
#pragma unroll
    for (int i = 0; i < LB; ++i) { int e = t + i * THREADS; *(float4*)&bs[s][e / (BN / 4)][e % (BN / 4) * 4] = rb[i]; }
  };
  load(0);
  put(0);
  __syncthreads();
  int s = 0;
  for (int k0 = 0; k0 < Kd; k0 += BK) {
    if (AHEAD && k0 + BK < Kd) load(k0 + BK);
#pragma unroll
    for (int k = 0; k < BK; ++k) {
      float x[TM], y[TN];
#pragma unroll
      for (int i = 0; i < TM; ++i) x[i] = as[s][k][ty * TM + i];
#pragma unroll
      for (int j = 0; j < TN; j += 4) *(float4*)&y[j] = *(const float4*)&bs[s][k][tx * TN + j];
#pragma unroll
      for (int i = 0; i < TM; ++i)
#pragma unroll
        for (int j = 0; j < TN; ++j) c[i][j] += x[i] * y[j];
    }
    if (k0 + BK < Kd) {
#if AHEAD
      s ^= 1;
#else
      load(k0 + BK);
      __syncthreads();
#endif
      put(s);
      __syncthreads();
    }
  }
#pragma unroll
  for (int i = 0; i < TM; ++i)
#pragma unroll
    for (int j = 0; j < TN; j += 4)
      *(float4*)(C + (size_t)(blockIdx.y * BM + ty * TM + i) * N + blockIdx.x * BN + tx * TN + j) = *(float4*)&c[i][j];
}
