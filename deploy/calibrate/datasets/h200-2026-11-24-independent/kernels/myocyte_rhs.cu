// Three explicit steps of a heart cell's membrane: seven gates and calcium, rates by exponentials; a cell a thread, state by cell or by variable.
#if FAST
#define EXP __expf
#define DIV __fdividef
#else
#define EXP expf
#define DIV(a, b) ((a) / (b))
#endif
#if SOA
#define S(k) ((k) * n + i)
#else
#define S(k) (i * 8 + (k))
#endif
extern "C" __global__ void myocyte_rhs(const float* __restrict__ state, const float* __restrict__ stimulus, float* __restrict__ next, int n, float dt) {
  int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i >= n) return;
  float v = state[S(0)] * 100.0f - 85.0f, m = state[S(1)], h = state[S(2)], j = state[S(3)], d = state[S(4)], f = state[S(5)], x = state[S(6)], ca = state[S(7)] * 1e-3f + 1e-4f;
  float st = stimulus[i];
#pragma unroll 1
  for (int step = 0; step < 3; ++step) {
    float am = DIV(0.32f * (v + 47.13f), 1.0f - EXP(-0.1f * (v + 47.13f)) + 1e-5f), bm = 0.08f * EXP(-v * 0.0909f);
    float low = v < -40.0f ? 1.0f : 0.0f;
    float ah = low * 0.135f * EXP(-(80.0f + v) * 0.147f);
    float bh = low * (3.56f * EXP(0.079f * v) + 3.1e5f * EXP(0.35f * v)) + (1.0f - low) * DIV(1.0f, 0.13f * (1.0f + EXP(-(v + 10.66f) * 0.09f)));
    float aj = low * DIV((-1.2714e5f * EXP(0.2444f * v) - 3.474e-5f * EXP(-0.04391f * v)) * (v + 37.78f), 1.0f + EXP(0.311f * (v + 79.23f)));
    float bj = DIV(0.1212f * EXP(-0.01052f * v), 1.0f + EXP(-0.1378f * (v + 40.14f)));
    float ad = DIV(0.095f * EXP(-0.01f * (v - 5.0f)), 1.0f + EXP(-0.072f * (v - 5.0f)));
    float bd = DIV(0.07f * EXP(-0.017f * (v + 44.0f)), 1.0f + EXP(0.05f * (v + 44.0f)));
    float af = DIV(0.012f * EXP(-0.008f * (v + 28.0f)), 1.0f + EXP(0.15f * (v + 28.0f)));
    float bf = DIV(0.0065f * EXP(-0.02f * (v + 30.0f)), 1.0f + EXP(-0.2f * (v + 30.0f)));
    float ax = DIV(0.0005f * EXP(0.083f * (v + 50.0f)), 1.0f + EXP(0.057f * (v + 50.0f)));
    float bx = DIV(0.0013f * EXP(-0.06f * (v + 20.0f)), 1.0f + EXP(-0.04f * (v + 20.0f)));
    float esi = 7.7f - 13.0287f * logf(ca);
    float isi = 0.09f * d * f * (v - esi);
    float ina = 23.0f * m * m * m * h * j * (v - 54.4f);
    float xi = v > -100.0f ? DIV(2.837f * (EXP(0.04f * (v + 77.0f)) - 1.0f), (v + 77.0f) * EXP(0.04f * (v + 35.0f)) + 1e-3f) : 1.0f;
    float ik = 0.282f * x * xi * (v + 77.0f);
    float ib = 0.03921f * (v + 59.87f);
    v -= dt * (ina + isi + ik + ib - st);
    v = fminf(fmaxf(v, -95.0f), 60.0f);
    m += dt * (am * (1.0f - m) - bm * m), h += dt * (ah * (1.0f - h) - bh * h), j += dt * (aj * (1.0f - j) - bj * j);
    d += dt * (ad * (1.0f - d) - bd * d), f += dt * (af * (1.0f - f) - bf * f), x += dt * (ax * (1.0f - x) - bx * x);
    ca = fmaxf(ca + dt * (-1e-4f * isi + 0.07f * (1e-4f - ca)), 1e-6f);
  }
  next[S(0)] = v, next[S(1)] = m, next[S(2)] = h, next[S(3)] = j, next[S(4)] = d, next[S(5)] = f, next[S(6)] = x, next[S(7)] = ca;
}
