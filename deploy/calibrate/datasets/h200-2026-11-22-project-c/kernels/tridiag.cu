// Systems of 64 equations with three diagonals, a thread each: numbers of one system apart by the number of systems (LAYOUT 0) or next to each other (1); the
// changed diagonal is kept in shared memory (KEPT 0), or in local memory (1).
#define N 64
#if LAYOUT
#define AT(k) ((size_t)id * N + (k))
#else
#define AT(k) ((size_t)(k) * systems + id)
#endif
extern "C" __global__ void tridiag(const float* __restrict__ lower, const float* __restrict__ upper, float* __restrict__ x, int systems) {
  int id = blockIdx.x * BLOCK + threadIdx.x;
#if KEPT == 0
  __shared__ float keep[N][BLOCK];
#define C(k) keep[k][threadIdx.x]
#else
  float keep[N];
#define C(k) keep[k]
#endif
  float c = 0, d = 0;
#pragma unroll UNROLL
  for (int k = 0; k < N; ++k) {
    float l = lower[AT(k)], m = 1.0f / (4.0f - l * c);
    c = upper[AT(k)] * m;
    d = (x[AT(k)] - l * d) * m;
    C(k) = c;
    x[AT(k)] = d;
  }
#pragma unroll UNROLL
  for (int k = N - 2; k >= 0; --k) {
    d = x[AT(k)] - C(k) * d;
    x[AT(k)] = d;
  }
}
