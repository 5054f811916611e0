// Damped systems of 32 unknowns, many at once: (A + shift I) is factored into L and U without pivoting and solved for one right side. MATS matrices a CTA with TPM threads each, in shared memory with rows padded by PAD, where a thread owns rows (WAY 0) or columns (1) or shares of them; or a column a lane in registers with shuffles (2). Matrices come and go by words or vectors of four (VEC).
#define N 32
#define PITCH (N + PAD)
#define OWNERS (TPM < N ? TPM : N)
#define PARTS (TPM / OWNERS)
#define REP (N / OWNERS)
#if TPM > 32
#define SYNC() __syncthreads()
#else
#define SYNC() __syncwarp()
#endif
extern "C" __global__ void __launch_bounds__(TPM * MATS) lu_batch(const float* __restrict__ A, const float* __restrict__ b, float* __restrict__ LU, float* __restrict__ x, float shift) {
  int t = threadIdx.x, m = threadIdx.y;
  size_t matrix = (size_t)blockIdx.x * MATS + m;
  const float* from = A + matrix * (N * N);
  float* to = LU + matrix * (N * N);
#if WAY == 2
  float a[N], y = __ldg(b + matrix * N + t), d = 0.0f;
#pragma unroll
  for (int i = 0; i < N; ++i) a[i] = __ldg(from + i * N + t) + (i == t ? shift : 0.0f);
#pragma unroll
  for (int k = 0; k < N; ++k) {
    float pivot = __fdividef(1.0f, __shfl_sync(0xffffffffu, a[k], k)), yk = __shfl_sync(0xffffffffu, y, k);
    if (t == k) d = pivot;
#pragma unroll
    for (int i = k + 1; i < N; ++i) {
      float l = __shfl_sync(0xffffffffu, a[i], k) * pivot;
      if (t > k) a[i] = fmaf(-l, a[k], a[i]);
      if (t == k) a[i] = l;
      if (t == i) y = fmaf(-l, yk, y);
    }
  }
#pragma unroll
  for (int i = 0; i < N; ++i) to[i * N + t] = a[i];
#pragma unroll
  for (int k = N - 1; k >= 0; --k) {
    if (t == k) y *= d;
    float yk = __shfl_sync(0xffffffffu, y, k);
#pragma unroll
    for (int i = 0; i < k; ++i) {
      float l = __shfl_sync(0xffffffffu, a[i], k);
      if (t == i) y = fmaf(-l, yk, y);
    }
  }
  x[matrix * N + t] = y;
#else
  extern __shared__ __align__(16) float raw[];
  float* a = raw + m * (N * PITCH + N);
  float* y = a + N * PITCH;
  int own = t % OWNERS, part = t / OWNERS;
#pragma unroll
  for (int p = 0; p < N * N / (TPM * VEC); ++p) {
    int k = (p * TPM + t) * VEC, i = k / N, j = k % N;
#if VEC == 4
    float4 v = __ldg((const float4*)(from + k));
    if (i / 4 == j / 4) {
      if (i % 4 == 0) v.x += shift;
      if (i % 4 == 1) v.y += shift;
      if (i % 4 == 2) v.z += shift;
      if (i % 4 == 3) v.w += shift;
    }
#if PAD % 4 == 0
    *(float4*)(a + i * PITCH + j) = v;
#else
    a[i * PITCH + j] = v.x, a[i * PITCH + j + 1] = v.y, a[i * PITCH + j + 2] = v.z, a[i * PITCH + j + 3] = v.w;
#endif
#else
    a[i * PITCH + j] = __ldg(from + k) + (i == j ? shift : 0.0f);
#endif
  }
  if (part == 0)
#pragma unroll
    for (int r = 0; r < REP; ++r) y[own + r * OWNERS] = __ldg(b + matrix * N + own + r * OWNERS);
  SYNC();
#pragma unroll 1
  for (int k = 0; k < N - 1; ++k) {
    float pivot = __fdividef(1.0f, a[k * PITCH + k]), yk = y[k];
    if (part == 0)
#pragma unroll
      for (int r = 0; r < REP; ++r) {
        int i = own + r * OWNERS;
        if (i > k) {
          float l = a[i * PITCH + k] * pivot;
          a[i * PITCH + k] = l;
          y[i] = fmaf(-l, yk, y[i]);
        }
      }
    SYNC();
#pragma unroll
    for (int r = 0; r < REP; ++r) {
      int o = own + r * OWNERS;
      if (o > k) {
#if WAY == 0
        float l = a[o * PITCH + k];
#pragma unroll 4
        for (int j = k + 1 + part; j < N; j += PARTS) a[o * PITCH + j] = fmaf(-l, a[k * PITCH + j], a[o * PITCH + j]);
#else
        float u = a[k * PITCH + o];
#pragma unroll 4
        for (int i = k + 1 + part; i < N; i += PARTS) a[i * PITCH + o] = fmaf(-a[i * PITCH + k], u, a[i * PITCH + o]);
#endif
      }
    }
    SYNC();
  }
#pragma unroll 1
  for (int k = N - 1; k >= 0; --k) {
    float yk = __fdividef(y[k], a[k * PITCH + k]);
    SYNC();
    if (part == 0)
#pragma unroll
      for (int r = 0; r < REP; ++r) {
        int i = own + r * OWNERS;
        if (i < k) y[i] = fmaf(-a[i * PITCH + k], yk, y[i]);
        if (i == k) y[i] = yk;
      }
    SYNC();
  }
#pragma unroll
  for (int p = 0; p < N * N / (TPM * VEC); ++p) {
    int k = (p * TPM + t) * VEC, i = k / N, j = k % N;
#if VEC == 4
#if PAD % 4 == 0
    *(float4*)(to + k) = *(const float4*)(a + i * PITCH + j);
#else
    *(float4*)(to + k) = make_float4(a[i * PITCH + j], a[i * PITCH + j + 1], a[i * PITCH + j + 2], a[i * PITCH + j + 3]);
#endif
#else
    to[k] = a[i * PITCH + j];
#endif
  }
  if (part == 0)
#pragma unroll
    for (int r = 0; r < REP; ++r) x[matrix * N + own + r * OWNERS] = y[own + r * OWNERS];
#endif
}
