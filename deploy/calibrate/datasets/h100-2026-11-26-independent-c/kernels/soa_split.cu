// Particles as records of twelve numbers to twelve arrays, the first three moved by the next three times a step of time: a thread reads its records number by number (WAY 0), as three vectors (1), or the CTA brings its stretch of memory to shared memory in order (2), there with a record's length padded (PAD). PER records a thread, BLOCK apart or neighbours stored as vectors (NEXT); stores may pass the caches by (PAST).
#define FIELDS 12
#define LENGTH (FIELDS + PAD)
#define MINE (BLOCK * PER)
#if PAST
#define STORE(p, v) __stcs(p, v)
#else
#define STORE(p, v) (*(p) = (v))
#endif
extern "C" __global__ void __launch_bounds__(BLOCK) soa_split(const float* __restrict__ in, float* __restrict__ out, int n, float dt) {
  extern __shared__ __align__(16) float stage[];
  int t = threadIdx.x, r0 = blockIdx.x * MINE;
  const float* from = in + (size_t)r0 * FIELDS;
#if WAY == 2
#pragma unroll
  for (int k = t; k < MINE * FIELDS / 4; k += BLOCK) {
    float4 q = ((const float4*)from)[k];
    int at = k / (FIELDS / 4) * LENGTH + k % (FIELDS / 4) * 4;
#if PAD
    stage[at] = q.x, stage[at + 1] = q.y, stage[at + 2] = q.z, stage[at + 3] = q.w;
#else
    *(float4*)(stage + at) = q;
#endif
  }
  __syncthreads();
#endif
  float v[PER][FIELDS];
#pragma unroll
  for (int p = 0; p < PER; ++p) {
    int r = NEXT ? t * PER + p : p * BLOCK + t;
#if WAY == 2
#pragma unroll
    for (int f = 0; f < FIELDS; ++f) v[p][f] = stage[r * LENGTH + f];
#elif WAY == 1
#pragma unroll
    for (int f = 0; f < FIELDS; f += 4) {
      float4 q = ((const float4*)from)[(r * FIELDS + f) / 4];
      v[p][f] = q.x, v[p][f + 1] = q.y, v[p][f + 2] = q.z, v[p][f + 3] = q.w;
    }
#else
#pragma unroll
    for (int f = 0; f < FIELDS; ++f) v[p][f] = from[r * FIELDS + f];
#endif
#pragma unroll
    for (int f = 0; f < 3; ++f) v[p][f] = fmaf(v[p][f + 3], dt, v[p][f]);
  }
#pragma unroll
  for (int f = 0; f < FIELDS; ++f) {
    float* to = out + (size_t)f * n + r0;
#if NEXT && PER == 4
    STORE((float4*)to + t, make_float4(v[0][f], v[1][f], v[2][f], v[3][f]));
#elif NEXT && PER == 2
    STORE((float2*)to + t, make_float2(v[0][f], v[1][f]));
#else
#pragma unroll
    for (int p = 0; p < PER; ++p) STORE(to + p * BLOCK + t, v[p][f]);
#endif
  }
}
