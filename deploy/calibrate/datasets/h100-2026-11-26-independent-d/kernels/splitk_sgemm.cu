// C += A B in single precision where the sum is long and C small: SPLIT CTAs share the sum of a tile of BM by BN and add their parts to memory by atomics. A thread has SIDE by SIDE results in groups of four; A's tile lies turned in shared memory, rows PAD floats longer than need be; one buffer with the next tile's loads in registers under way, or two with a single barrier a step (BUFFERS).
#define BK 16
#define TX (BN / SIDE)
#define TY (BM / SIDE)
#define THREADS (TX * TY)
#define GROUPS (SIDE / 4)
#define LA (BM + PAD)
#define LB (BN + PAD)
#define PA (BM * BK / 4)
#define PB (BN * BK / 4)
#define NA ((PA + THREADS - 1) / THREADS)
#define NB ((PB + THREADS - 1) / THREADS)
extern "C" __global__ void __launch_bounds__(THREADS) splitk_sgemm(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int n, int depth) {
  __shared__ __align__(16) float sa[BUFFERS][BK][LA];
  __shared__ __align__(16) float sb[BUFFERS][BK][LB];
  int t = threadIdx.x, tx = t % TX, ty = t / TX, m0 = blockIdx.y * BM, n0 = blockIdx.x * BN, part = depth / SPLIT;
  const float* a = A + (size_t)m0 * depth + (size_t)blockIdx.z * part;
  const float* b = B + (size_t)blockIdx.z * part * n + n0;
  float acc[SIDE][SIDE];
#pragma unroll
  for (int i = 0; i < SIDE; ++i)
#pragma unroll
    for (int j = 0; j < SIDE; ++j) acc[i][j] = 0.0f;
  float4 ra[NA], rb[NB];
#define FETCH(k0)                                                                                    \
  _Pragma("unroll") for (int l = 0; l < NA; ++l) {                                                   \
    int k = l * THREADS + t;                                                                         \
    if (PA % THREADS == 0 || k < PA) ra[l] = *(const float4*)(a + (size_t)(k / (BK / 4)) * depth + (k0) + k % (BK / 4) * 4); \
  }                                                                                                  \
  _Pragma("unroll") for (int l = 0; l < NB; ++l) {                                                   \
    int k = l * THREADS + t;                                                                         \
    if (PB % THREADS == 0 || k < PB) rb[l] = *(const float4*)(b + (size_t)((k0) + k / (BN / 4)) * n + k % (BN / 4) * 4); \
  }
#define PUT(s)                                                                                       \
  _Pragma("unroll") for (int l = 0; l < NA; ++l) {                                                   \
    int k = l * THREADS + t, row = k / (BK / 4), c = k % (BK / 4) * 4;                               \
    if (PA % THREADS == 0 || k < PA) sa[s][c][row] = ra[l].x, sa[s][c + 1][row] = ra[l].y, sa[s][c + 2][row] = ra[l].z, sa[s][c + 3][row] = ra[l].w; \
  }                                                                                                  \
  _Pragma("unroll") for (int l = 0; l < NB; ++l) {                                                   \
    int k = l * THREADS + t;                                                                         \
    if (PB % THREADS == 0 || k < PB) *(float4*)&sb[s][k / (BN / 4)][k % (BN / 4) * 4] = make_float4(rb[l].x, rb[l].y, rb[l].z, rb[l].w); \
  }
  FETCH(0)
  PUT(0)
  __syncthreads();
  int now = 0;
#pragma unroll 1
  for (int k0 = 0; k0 < part; k0 += BK) {
    bool more = k0 + BK < part;
    if (more) {
      FETCH(k0 + BK)
    }
#pragma unroll
    for (int k = 0; k < BK; ++k) {
      float u[SIDE], v[SIDE];
#pragma unroll
      for (int g = 0; g < GROUPS; ++g) {
        float4 q = *(const float4*)&sa[now][k][g * (BM / GROUPS) + ty * 4], w = *(const float4*)&sb[now][k][g * (BN / GROUPS) + tx * 4];
        u[4 * g] = q.x, u[4 * g + 1] = q.y, u[4 * g + 2] = q.z, u[4 * g + 3] = q.w;
        v[4 * g] = w.x, v[4 * g + 1] = w.y, v[4 * g + 2] = w.z, v[4 * g + 3] = w.w;
      }
#pragma unroll
      for (int i = 0; i < SIDE; ++i)
#pragma unroll
        for (int j = 0; j < SIDE; ++j) acc[i][j] = fmaf(u[i], v[j], acc[i][j]);
    }
#if BUFFERS == 2
    if (more) {
      PUT(now ^ 1)
    }
    __syncthreads();
    now ^= 1;
#else
    __syncthreads();
    if (more) {
      PUT(0)
    }
    __syncthreads();
#endif
  }
#pragma unroll
  for (int i = 0; i < SIDE; ++i) {
    float* c = C + (size_t)(m0 + i / 4 * (BM / GROUPS) + ty * 4 + i % 4) * n + n0 + tx * 4;
#pragma unroll
    for (int j = 0; j < SIDE; ++j) atomicAdd(c + j / 4 * (BN / GROUPS) + j % 4, acc[i][j]);
  }
}
