// Prices under Heston's model: 64 steps of Euler with full truncation, two normal numbers a step by Box and Muller from xorwow or a permuted congruential generator (PCG); PATHS paths a thread abreast, their mirror images too with ANTI (then half as many); payoffs stored.
#define STEPS 64
#define BOTH (1 + ANTI)
#if FAST
#define LOG __logf
#define SINCOS __sincosf
#define ROOT(x) ((x) > 0.0f ? (x) * rsqrtf(x) : 0.0f)
#else
#define LOG logf
#define SINCOS sincosf
#define ROOT(x) sqrtf(x)
#endif
#if PCG
struct state { unsigned long long s; };
__device__ __forceinline__ void seed(state& g, unsigned i) { g.s = (i * 2654435761ull + 1442695040888963407ull) * 6364136223846793005ull; }
__device__ __forceinline__ unsigned draw(state& g) {
  unsigned long long o = g.s;
  g.s = o * 6364136223846793005ull + 1442695040888963407ull;
  unsigned x = (unsigned)((o >> 18 ^ o) >> 27), r = (unsigned)(o >> 59);
  return x >> r | x << (32 - r & 31);
}
#else
struct state { unsigned a, b, c, d, e, n; };
__device__ __forceinline__ void seed(state& g, unsigned i) { g.a = 123456789u ^ i * 2654435761u, g.b = 362436069u ^ i, g.c = 521288629u + i * 40503u, g.d = 88675123u ^ i << 7, g.e = 5783321u + i, g.n = 6615241u; }
__device__ __forceinline__ unsigned draw(state& g) {
  unsigned t = g.a ^ g.a >> 2;
  g.a = g.b, g.b = g.c, g.c = g.d, g.d = g.e;
  g.e = g.e ^ g.e << 4 ^ t ^ t << 1;
  g.n += 362437u;
  return g.e + g.n;
}
#endif
extern "C" __global__ void heston_paths(float* __restrict__ payoff, int paths, float spot, float strike, float v0, float mu, float kappa, float theta, float sigma, float rho, float dt) {
  int i0 = blockIdx.x * BLOCK * PATHS + threadIdx.x;
  float s[PATHS][BOTH], v[PATHS][BOTH], root = sqrtf(dt), other = sqrtf(1.0f - rho * rho);
  state g[PATHS];
#pragma unroll
  for (int p = 0; p < PATHS; ++p) {
    seed(g[p], i0 + p * BLOCK);
#pragma unroll
    for (int k = 0; k < BOTH; ++k) s[p][k] = 0.0f, v[p][k] = v0;
  }
#pragma unroll UNROLL
  for (int t = 0; t < STEPS; ++t)
#pragma unroll
    for (int p = 0; p < PATHS; ++p) {
      float u1 = (draw(g[p]) + 0.5f) * 2.3283064e-10f, u2 = draw(g[p]) * 1.4629180e-9f, sn, cs;
      float r = ROOT(-2.0f * LOG(fminf(u1, 0.9999999f)));
      SINCOS(u2, &sn, &cs);
      float z1 = r * cs * root, z2 = (rho * cs + other * sn) * r * root;
#pragma unroll
      for (int k = 0; k < BOTH; ++k) {
        float up = fmaxf(v[p][k], 0.0f), vol = ROOT(up);
        s[p][k] += (mu - 0.5f * up) * dt + vol * (k ? -z1 : z1);
        v[p][k] += kappa * (theta - up) * dt + sigma * vol * (k ? -z2 : z2);
      }
    }
#pragma unroll
  for (int p = 0; p < PATHS; ++p) {
    int i = i0 + p * BLOCK;
#pragma unroll
    for (int k = 0; k < BOTH; ++k)
      if (i * BOTH + k < paths) payoff[i * BOTH + k] = fmaxf(spot * expf(s[p][k]) - strike, 0.0f);
  }
}
