// Cholesky factors of many 16x16 matrices: LANES lanes of a warp hold a matrix's rows in registers (row q*LANES+lane) and pass each column by shuffles or through shared memory; matrices by rows, or read down their columns, which are the same.
#define N 16
#define Q (N / LANES)
extern "C" __global__ void chol_lanes(const float* __restrict__ in, float* __restrict__ out, float shift) {
  int t = blockIdx.x * block_size_x + threadIdx.x, lane = threadIdx.x % LANES;
  const float* m = in + (size_t)(t / LANES) * (N * N);
  float* l = out + (size_t)(t / LANES) * (N * N);
#if !SHUFFLE
  __shared__ float column[block_size_x / LANES][N + PAD];
  float* mine = column[threadIdx.x / LANES];
#endif
  float a[Q][N];
#pragma unroll
  for (int q = 0; q < Q; ++q) {
    int r = q * LANES + lane;
#if TURNED
#pragma unroll
    for (int c = 0; c < N; ++c) a[q][c] = m[c * N + r];
#else
#pragma unroll
    for (int c = 0; c < N; c += 4) {
      float4 v = *(const float4*)(m + r * N + c);
      a[q][c] = v.x, a[q][c + 1] = v.y, a[q][c + 2] = v.z, a[q][c + 3] = v.w;
    }
#endif
#pragma unroll
    for (int c = 0; c < N; ++c) a[q][c] += r == c ? shift : 0.0f;
  }
#pragma unroll
  for (int j = 0; j < N; ++j) {
#if SHUFFLE
    float inv = rsqrtf(__shfl_sync(0xffffffffu, a[j / LANES][j], j % LANES, LANES));
#else
#pragma unroll
    for (int q = 0; q < Q; ++q) mine[q * LANES + lane] = a[q][j];
    __syncwarp();
    float inv = rsqrtf(mine[j]);
#endif
#pragma unroll
    for (int q = j / LANES; q < Q; ++q) a[q][j] *= inv;
#pragma unroll
    for (int c = j + 1; c < N; ++c) {
#if SHUFFLE
      float f = __shfl_sync(0xffffffffu, a[c / LANES][j], c % LANES, LANES);
#else
      float f = mine[c] * inv;
#endif
#pragma unroll
      for (int q = c / LANES; q < Q; ++q) a[q][c] -= a[q][j] * f;
    }
#if !SHUFFLE
    __syncwarp();
#endif
  }
#pragma unroll
  for (int q = 0; q < Q; ++q) {
    int r = q * LANES + lane;
#if TURNED
#pragma unroll
    for (int c = 0; c < N; ++c) l[c * N + r] = c <= r ? a[q][c] : 0.0f;
#else
#pragma unroll
    for (int c = 0; c < N; c += 4)
      *(float4*)(l + r * N + c) = make_float4(c <= r ? a[q][c] : 0.0f, c + 1 <= r ? a[q][c + 1] : 0.0f, c + 2 <= r ? a[q][c + 2] : 0.0f, c + 3 <= r ? a[q][c + 3] : 0.0f);
#endif
  }
}
