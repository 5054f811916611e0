// C = A B from shared tiles that cp.async fills STAGES ahead; 8x8 values a thread pair of 4.
#define BM 64
#define BN 64
extern "C" __global__ void gemm_async(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int n) {
  __shared__ float sa[STAGES][BM][BK], sb[STAGES][BK][BN];
  int t = threadIdx.x, tx = t % (BN / 4), ty = t / (BN / 4);
  const int THREADS = (BM / TM) * (BN / 4);
  float s[TM][4];
#pragma unroll
  for (int i = 0; i < TM; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j) s[i][j] = 0;
  auto fetch = [&](int stage, int k0) {
    for (int q = t; q < BM * BK / 4; q += THREADS) {
      int r = q / (BK / 4), k = q % (BK / 4) * 4;
      unsigned d = (unsigned)__cvta_generic_to_shared(&sa[stage][r][k]);
      asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(d), "l"(a + (size_t)(blockIdx.y * BM + r) * n + k0 + k));
    }
    for (int q = t; q < BK * BN / 4; q += THREADS) {
      int k = q / (BN / 4), x = q % (BN / 4) * 4;
      unsigned d = (unsigned)__cvta_generic_to_shared(&sb[stage][k][x]);
      asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(d), "l"(b + (size_t)(k0 + k) * n + blockIdx.x * BN + x));
    }
    asm volatile("cp.async.commit_group;");
  };
#pragma unroll
  for (int p = 0; p < STAGES - 1; ++p) fetch(p, p * BK);
  for (int k0 = 0, st = 0; k0 < n; k0 += BK, st = (st + 1) % STAGES) {
    if (k0 + (STAGES - 1) * BK < n) fetch((st + STAGES - 1) % STAGES, k0 + (STAGES - 1) * BK);
    else asm volatile("cp.async.commit_group;");
    asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 1));
    __syncthreads();
#pragma unroll
    for (int k = 0; k < BK; ++k) {
      float4 q = *(const float4*)&sb[st][k][tx * 4];
#pragma unroll
      for (int i = 0; i < TM; ++i) {
        float p = sa[st][ty * TM + i][k];
        s[i][0] += p * q.x; s[i][1] += p * q.y; s[i][2] += p * q.z; s[i][3] += p * q.w;
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < TM; ++i)
    *(float4*)(c + (size_t)(blockIdx.y * BM + ty * TM + i) * n + blockIdx.x * BN + tx * 4) = make_float4(s[i][0], s[i][1], s[i][2], s[i][3]);
}
