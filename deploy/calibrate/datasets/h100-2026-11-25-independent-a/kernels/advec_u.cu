// Tendency of the wind's first component by its advection on a staggered grid, fifth order upwind in all directions (as in models of the atmosphere's boundary layer): TX cells in x and TZ in z a thread, next to each other or (APART) a block's width apart; ghosts of three cells; registers for MIN_CTAS blocks a multiprocessor.
__device__ __forceinline__ float interp6(float a, float b, float c, float d, float e, float f) { return (37.0f * (c + d) - 8.0f * (b + e) + (a + f)) * (1.0f / 60.0f); }
__device__ __forceinline__ float interp5(float a, float b, float c, float d, float e, float f) { return (10.0f * (d - c) - 5.0f * (e - b) + (f - a)) * (1.0f / 60.0f); }
#define FLUX(vel, p, s) ((vel) * interp6((p)[-3 * (s)], (p)[-2 * (s)], (p)[-(s)], (p)[0], (p)[(s)], (p)[2 * (s)]) - fabsf(vel) * interp5((p)[-3 * (s)], (p)[-2 * (s)], (p)[-(s)], (p)[0], (p)[(s)], (p)[2 * (s)]))
extern "C" __global__ void __launch_bounds__(block_size_x * block_size_y, MIN_CTAS) advec_u(const float* __restrict__ u, const float* __restrict__ v, const float* __restrict__ w, float* __restrict__ ut, int itot, int jtot, int ktot, float dxi, float dyi, float dzi) {
  int jj = itot + 6, kk = jj * (jtot + 6), j = blockIdx.y * block_size_y + threadIdx.y;
  if (j >= jtot) return;
#pragma unroll
  for (int tz = 0; tz < TZ; ++tz) {
    int k = blockIdx.z * TZ + tz;
#pragma unroll
    for (int tx = 0; tx < TX; ++tx) {
#if APART
      int i = blockIdx.x * block_size_x * TX + threadIdx.x + tx * block_size_x;
#else
      int i = (blockIdx.x * block_size_x + threadIdx.x) * TX + tx;
#endif
      if (i < itot && k < ktot) {
        int at = (k + 3) * kk + (j + 3) * jj + i + 3;
        const float *p = u + at, *q = v + at, *r = w + at;
        float ue = 0.5f * (p[0] + p[1]), uw = 0.5f * (p[-1] + p[0]);
        float vn = 0.5f * (q[jj - 1] + q[jj]), vs = 0.5f * (q[-1] + q[0]);
        float wt = 0.5f * (r[kk - 1] + r[kk]), wb = 0.5f * (r[-1] + r[0]);
        ut[at] -= (FLUX(ue, p + 1, 1) - FLUX(uw, p, 1)) * dxi + (FLUX(vn, p + jj, jj) - FLUX(vs, p, jj)) * dyi + (FLUX(wt, p + kk, kk) - FLUX(wb, p, kk)) * dzi;
      }
    }
  }
}
