// C = A B with half operands and float sums on tensor cores (mma.sync m16n8k16): tiles of BM by BN, steps of BK through STAGES stages of cp.async, fragments by ldmatrix. A warp has a tile of 32x32, 32x64, 64x32 or 64x64 (WT 0 to 3). Tiles in shared memory lie plain (LAY 0), with padded rows (1) or with vectors of eight swizzled by row (2).
#define WM (WT / 2 ? 64 : 32)
#define WN (WT % 2 ? 64 : 32)
#define WARPS_M (BM / WM)
#define WARPS_N (BN / WN)
#define THREADS (WARPS_M * WARPS_N * 32)
#define PITCH_A (BK + (LAY == 1 ? 8 : 0))
#define PITCH_B (BN + (LAY == 1 ? 8 : 0))
#define TILE_A (BM * PITCH_A)
#define TILE_B (BK * PITCH_B)
#define MT (WM / 16)
#define NT (WN / 16)
__device__ __forceinline__ int in_a(int row, int v) {
#if LAY == 2
  v ^= BK == 64 ? row & 7 : row / 2 & 3;
#endif
  return row * PITCH_A + v * 8;
}
__device__ __forceinline__ int in_b(int row, int v) {
#if LAY == 2
  v ^= row & 7;
#endif
  return row * PITCH_B + v * 8;
}
__device__ __forceinline__ void copy16(unsigned to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}
__device__ __forceinline__ void ldmatrix(unsigned* r, unsigned from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(from) : "memory");
}
__device__ __forceinline__ void ldmatrix_trans(unsigned* r, unsigned from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(from) : "memory");
}
__device__ __forceinline__ void mma(float* c, const unsigned* a, unsigned b0, unsigned b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};" : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
__device__ __forceinline__ void load_stage(unsigned sa, const unsigned short* A, const unsigned short* B, int k, int n, int t) {
  unsigned sb = sa + TILE_A * 2;
#pragma unroll
  for (int q = 0; q < BM * BK / 8 / THREADS; ++q) {
    int p = q * THREADS + t, row = p / (BK / 8), v = p % (BK / 8);
    copy16(sa + in_a(row, v) * 2, A + (size_t)row * k + v * 8);
  }
#pragma unroll
  for (int q = 0; q < BK * BN / 8 / THREADS; ++q) {
    int p = q * THREADS + t, row = p / (BN / 8), v = p % (BN / 8);
    copy16(sb + in_b(row, v) * 2, B + (size_t)row * n + v * 8);
  }
}
extern "C" __global__ void __launch_bounds__(THREADS) gemm_mma(const unsigned short* __restrict__ A, const unsigned short* __restrict__ B, float* __restrict__ C, int n, int depth) {
  extern __shared__ __align__(128) unsigned short stage[];
  int t = threadIdx.x, lane = t % 32, warp = t / 32, wm = warp / WARPS_N * WM, wn = warp % WARPS_N * WN;
  unsigned base = (unsigned)__cvta_generic_to_shared(stage);
  const unsigned short* ap = A + (size_t)blockIdx.y * BM * depth;
  const unsigned short* bp = B + (size_t)blockIdx.x * BN;
  float acc[MT][2 * NT][4];
#pragma unroll
  for (int i = 0; i < MT; ++i)
#pragma unroll
    for (int j = 0; j < 2 * NT; ++j)
#pragma unroll
      for (int e = 0; e < 4; ++e) acc[i][j][e] = 0.0f;
  int steps = depth / BK, now = 0, into = STAGES - 1;
#pragma unroll
  for (int s = 0; s < STAGES - 1; ++s) {
    load_stage(base + s * (TILE_A + TILE_B) * 2, ap + s * BK, bp + (size_t)s * BK * n, depth, n, t);
    asm volatile("cp.async.commit_group;" ::: "memory");
  }
#pragma unroll 1
  for (int step = 0; step < steps; ++step) {
    asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
    __syncthreads();
    int next = step + STAGES - 1;
    if (next < steps) load_stage(base + into * (TILE_A + TILE_B) * 2, ap + next * BK, bp + (size_t)next * BK * n, depth, n, t);
    asm volatile("cp.async.commit_group;" ::: "memory");
    unsigned sa = base + now * (TILE_A + TILE_B) * 2, sb = sa + TILE_A * 2;
#pragma unroll
    for (int k = 0; k < BK / 16; ++k) {
      unsigned a[MT][4], b[NT][4];
#pragma unroll
      for (int i = 0; i < MT; ++i) ldmatrix(a[i], sa + in_a(wm + i * 16 + lane % 16, k * 2 + lane / 16) * 2);
#pragma unroll
      for (int j = 0; j < NT; ++j) ldmatrix_trans(b[j], sb + in_b(k * 16 + lane % 16, wn / 8 + j * 2 + lane / 16) * 2);
#pragma unroll
      for (int i = 0; i < MT; ++i)
#pragma unroll
        for (int j = 0; j < NT; ++j) {
          mma(acc[i][2 * j], a[i], b[j][0], b[j][1]);
          mma(acc[i][2 * j + 1], a[i], b[j][2], b[j][3]);
        }
    }
    if (++now == STAGES) now = 0;
    if (++into == STAGES) into = 0;
  }
  float* to = C + (size_t)(blockIdx.y * BM + wm + lane / 4) * n + blockIdx.x * BN + wn + lane % 4 * 2;
#pragma unroll
  for (int i = 0; i < MT; ++i)
#pragma unroll
    for (int j = 0; j < 2 * NT; ++j) {
      *(float2*)(to + (size_t)(i * 16) * n + j * 8) = make_float2(acc[i][j][0], acc[i][j][1]);
      *(float2*)(to + (size_t)(i * 16 + 8) * n + j * 8) = make_float2(acc[i][j][2], acc[i][j][3]);
    }
}
