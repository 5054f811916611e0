// Complex 3x3 matrices of a lattice's links times vectors at its sites, stored site by site or number by number (TURNED).
extern "C" __global__ void su3_mult(const REAL* __restrict__ link, const REAL* __restrict__ in, REAL* __restrict__ out, int n) {
  int s = blockIdx.x * BLOCK + threadIdx.x;
  if (s >= n) return;
#define AT(count, k) (TURNED ? (k) * n + s : s * (count) + (k))
  REAL v[6];
#pragma unroll
  for (int k = 0; k < 6; ++k) v[k] = in[AT(6, k)];
#pragma unroll
  for (int i = 0; i < 3; ++i) {
    REAL re = 0, im = 0;
#pragma unroll
    for (int j = 0; j < 3; ++j) {
      REAL ur = link[AT(18, 6 * i + 2 * j)], ui = link[AT(18, 6 * i + 2 * j + 1)];
      re += ur * v[2 * j] - ui * v[2 * j + 1];
      im += ur * v[2 * j + 1] + ui * v[2 * j];
    }
    out[AT(6, 2 * i)] = re;
    out[AT(6, 2 * i + 1)] = im;
  }
}
