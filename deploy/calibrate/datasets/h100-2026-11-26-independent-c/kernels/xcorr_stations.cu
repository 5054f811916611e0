// The X of an FX correlator: for each channel the products of every station with every other one's conjugate, summed over time. A CTA has a tile of BX*SIDE by BY*SIDE pairs, a thread SIDE by SIDE of them; KT times of the tile's stations are brought to shared memory at once, by cp.async with STAGES stages under way, or through registers (STAGES 1).
#define SX (BX * SIDE)
#define SY (BY * SIDE)
#define STRIPE (SX + SY)
#define THREADS (BX * BY)
#define PIECES (KT * STRIPE / 2)
extern "C" __global__ void __launch_bounds__(THREADS) xcorr_stations(const float2* __restrict__ voltage, float2* __restrict__ visibility, int stations, int times) {
  extern __shared__ __align__(16) float2 stage[];
  int tx = threadIdx.x, ty = threadIdx.y, t = ty * BX + tx, x0 = blockIdx.x * SX, y0 = blockIdx.y * SY;
  const float2* from = voltage + (size_t)blockIdx.z * times * stations;
  float re[SIDE][SIDE], im[SIDE][SIDE];
#pragma unroll
  for (int i = 0; i < SIDE; ++i)
#pragma unroll
    for (int j = 0; j < SIDE; ++j) re[i][j] = im[i][j] = 0.0f;
#if STAGES > 1
  unsigned base = (unsigned)__cvta_generic_to_shared(stage);
#pragma unroll
  for (int s = 0; s < STAGES - 1; ++s) {
#pragma unroll
    for (int k = t; k < PIECES; k += THREADS) {
      int row = k / (STRIPE / 2), c = k % (STRIPE / 2) * 2;
      const float2* p = from + (size_t)(s * KT + row) * stations + (c < SX ? x0 + c : y0 + c - SX);
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(base + ((s * KT + row) * STRIPE + c) * 8), "l"(p) : "memory");
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
  }
#endif
  int now = 0;
#pragma unroll 1
  for (int t0 = 0; t0 < times; t0 += KT) {
#if STAGES > 1
    asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
    __syncthreads();
    int next = t0 + (STAGES - 1) * KT, into = now == 0 ? STAGES - 1 : now - 1;
    if (next < times) {
#pragma unroll
      for (int k = t; k < PIECES; k += THREADS) {
        int row = k / (STRIPE / 2), c = k % (STRIPE / 2) * 2;
        const float2* p = from + (size_t)(next + row) * stations + (c < SX ? x0 + c : y0 + c - SX);
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(base + ((into * KT + row) * STRIPE + c) * 8), "l"(p) : "memory");
      }
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
#else
    __syncthreads();
#pragma unroll
    for (int k = t; k < PIECES; k += THREADS) {
      int row = k / (STRIPE / 2), c = k % (STRIPE / 2) * 2;
      *(float4*)(stage + row * STRIPE + c) = *(const float4*)(from + (size_t)(t0 + row) * stations + (c < SX ? x0 + c : y0 + c - SX));
    }
    __syncthreads();
#endif
    const float2* mine = stage + now * KT * STRIPE;
#pragma unroll
    for (int q = 0; q < KT; ++q) {
      float2 a[SIDE], b[SIDE];
#pragma unroll
      for (int i = 0; i < SIDE; ++i) a[i] = mine[q * STRIPE + tx + i * BX], b[i] = mine[q * STRIPE + SX + ty + i * BY];
#pragma unroll
      for (int i = 0; i < SIDE; ++i)
#pragma unroll
        for (int j = 0; j < SIDE; ++j) {
          re[i][j] = fmaf(a[j].x, b[i].x, fmaf(a[j].y, b[i].y, re[i][j]));
          im[i][j] = fmaf(a[j].y, b[i].x, fmaf(-a[j].x, b[i].y, im[i][j]));
        }
    }
    if (++now == STAGES) now = 0;
  }
  float2* to = visibility + ((size_t)blockIdx.z * stations + y0) * stations + x0;
#pragma unroll
  for (int i = 0; i < SIDE; ++i)
#pragma unroll
    for (int j = 0; j < SIDE; ++j) to[(size_t)(ty + i * BY) * stations + tx + j * BX] = make_float2(re[i][j], im[i][j]);
}
