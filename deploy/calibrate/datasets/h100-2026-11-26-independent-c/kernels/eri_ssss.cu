// Two electron integrals over contracted s functions in double precision: for a pair of shells on the left and KETS pairs on the right a thread sums the primitives' products, each with Boys' function of order 0 from a grid with Taylor's series of ORDER terms, or its asymptote where the argument is large. The grid lies in global or shared memory (GRID), the primitives of the right side are read directly or staged (STAGE).
#define POINTS 384
#define THREADS (BX * BY)
extern "C" __global__ void __launch_bounds__(THREADS) eri_ssss(const double* __restrict__ bra, const double* __restrict__ ket, const double* __restrict__ boys, double* __restrict__ out, int nb, int nk, int kb, int kk) {
  int t = threadIdx.y * BX + threadIdx.x, b = blockIdx.x * BX + threadIdx.x, k0 = blockIdx.y * BY * KETS + threadIdx.y;
#if GRID
  __shared__ double grid[POINTS * ORDER];
  for (int k = t; k < POINTS * ORDER; k += THREADS) grid[k] = boys[k / ORDER * 4 + k % ORDER];
#define F(i, o) grid[(i) * ORDER + (o)]
#else
#define F(i, o) __ldg(boys + (i) * 4 + (o))
#endif
#if STAGE
  __shared__ double right[8 * 5][BY * KETS];
  for (int k = t; k < kk * 5 * BY * KETS; k += THREADS) right[k / (BY * KETS)][k % (BY * KETS)] = ket[(size_t)(k / (BY * KETS)) * nk + blockIdx.y * BY * KETS + k % (BY * KETS)];
#define KET(q, f, j) right[(q) * 5 + (f)][threadIdx.y + (j) * BY]
#else
#define KET(q, f, j) __ldg(ket + (size_t)((q) * 5 + (f)) * nk + k0 + (j) * BY)
#endif
#if GRID || STAGE
  __syncthreads();
#endif
  double sum[KETS];
#pragma unroll
  for (int j = 0; j < KETS; ++j) sum[j] = 0.0;
#pragma unroll 1
  for (int p = 0; p < kb; ++p) {
    const double* l = bra + (size_t)p * 5 * nb + b;
    double e = l[0] + 0.2, x = l[(size_t)nb], y = l[(size_t)2 * nb], z = l[(size_t)3 * nb], c = l[(size_t)4 * nb];
#pragma unroll 1
    for (int q = 0; q < kk; ++q)
#pragma unroll
      for (int j = 0; j < KETS; ++j) {
        double g = KET(q, 0, j) + 0.2, dx = x - KET(q, 1, j), dy = y - KET(q, 2, j), dz = z - KET(q, 3, j);
        double s = rsqrt(e + g), arg = e * g * s * s * 100.0 * fma(dx, dx, fma(dy, dy, dz * dz)), f0;
        if (arg < 23.9) {
          int i = (int)(arg * 16.0 + 0.5);
          double d = i * 0.0625 - arg;
          f0 = F(i, ORDER - 1);
#pragma unroll
          for (int o = ORDER - 2; o >= 0; --o) f0 = fma(f0 * (1.0 / (o + 1)), d, F(i, o));
        } else
          f0 = 0.88622692545275801 * rsqrt(arg);
        sum[j] = fma(c * KET(q, 4, j) * s, f0, sum[j]);
      }
  }
#pragma unroll
  for (int j = 0; j < KETS; ++j) out[(size_t)(k0 + j * BY) * nb + b] = sum[j];
}
