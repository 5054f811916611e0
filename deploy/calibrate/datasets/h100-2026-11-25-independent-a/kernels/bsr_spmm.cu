// A block-sparse matrix (16x16 blocks by block rows) times a dense one of n columns: a CTA a block row and BN columns, TM rows (NY apart) by TN columns a thread; the sparse block in shared memory, the dense rows too with STAGE.
#define NX (BN / TN)
#define NY (16 / TM)
#define THREADS (NX * NY)
#if TN == 4
typedef float4 vec;
#elif TN == 2
typedef float2 vec;
#else
typedef float vec;
#endif
extern "C" __global__ void bsr_spmm(const int* __restrict__ start, const int* __restrict__ column, const float* __restrict__ value, const float* __restrict__ x, float* __restrict__ y, int n) {
  __shared__ float as[16][17];
#if STAGE
  __shared__ __align__(16) float xs[16][BN];
#endif
  int tx = threadIdx.x, ty = threadIdx.y, t = ty * NX + tx, col0 = blockIdx.x * BN;
  float c[TM][TN];
#pragma unroll
  for (int i = 0; i < TM; ++i)
#pragma unroll
    for (int j = 0; j < TN; ++j) c[i][j] = 0.0f;
  int end = start[blockIdx.y + 1];
  for (int e = start[blockIdx.y]; e < end; ++e) {
    const float* a = value + (size_t)e * 256;
    const float* d = x + (size_t)column[e] * 16 * n + col0;
    for (int k = t; k < 256; k += THREADS) as[k % 16][k / 16] = a[k];
#if STAGE
#pragma unroll
    for (int k = t; k < 16 * NX; k += THREADS) *(vec*)&xs[k / NX][k % NX * TN] = *(const vec*)(d + (size_t)(k / NX) * n + k % NX * TN);
#endif
    __syncthreads();
#pragma unroll UNROLL
    for (int k = 0; k < 16; ++k) {
#if STAGE
      vec q = *(const vec*)&xs[k][tx * TN];
#else
      vec q = *(const vec*)(d + (size_t)k * n + tx * TN);
#endif
#pragma unroll
      for (int i = 0; i < TM; ++i) {
        float f = as[k][ty + i * NY];
#if TN == 4
        c[i][0] += f * q.x, c[i][1] += f * q.y, c[i][2] += f * q.z, c[i][3] += f * q.w;
#elif TN == 2
        c[i][0] += f * q.x, c[i][1] += f * q.y;
#else
        c[i][0] += f * q;
#endif
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < TM; ++i) {
    float* out = y + (size_t)(blockIdx.y * 16 + ty + i * NY) * n + col0 + tx * TN;
#if TN == 4
    *(float4*)out = make_float4(c[i][0], c[i][1], c[i][2], c[i][3]);
#elif TN == 2
    *(float2*)out = make_float2(c[i][0], c[i][1]);
#else
    *out = c[i][0];
#endif
  }
}
